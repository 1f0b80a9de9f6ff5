import { micromark } from 'micromark';

/** Images are left out: loading one would show another server who reads the brief. */
const WITHOUT_IMAGES = { disable: { null: ['labelStartImage'] } };

export function markdownToHtml(text: string): string {
  return micromark(text, { extensions: [WITHOUT_IMAGES] });
}
