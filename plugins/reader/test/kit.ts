import { definePlugin, type Services } from 'civic';
import { testServer, type TestServer } from 'civic/testing';
import type { Document, DocumentInput } from '../types.ts';

export interface ReaderKit {
  kit: TestServer;
  /** Parses a text or bytes; the address and the type have defaults. */
  read(body: string | Uint8Array, input?: Partial<DocumentInput>): Promise<Document>;
  close(): Promise<void>;
}

/** Starts the plugin, and returns its service as other plugins have it. */
export async function startReader(): Promise<ReaderKit> {
  let service: Services['reader'];
  const user = definePlugin({ name: 'listener', summary: 'Reads documents for tests', needs: ['reader'], register: (_server, civic) => ({ async start() { service = civic.service('reader'); } }) });
  const kit = await testServer({ plugins: ['reader', user] });
  return {
    kit,
    read: (body, input = {}) => service.document({ url: 'https://city.example/news/', content_type: 'text/html', ...input, body: typeof body === 'string' ? Buffer.from(body) : body }),
    close: () => kit.close(),
  };
}

/** Returns a PDF of one page that draws these lines; each `[text, x, y]`. */
export function pdfOf(texts: [text: string, x: number, y: number][]): Buffer {
  const stream = `BT /F1 12 Tf ${texts.map(([text, x, y]) => `1 0 0 1 ${x} ${y} Tm (${text}) Tj`).join(' ')} ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${stream.length}>>stream\n${stream}\nendstream`, '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
  ];
  return Buffer.from(`%PDF-1.4\n${objects.map((object, index) => `${index + 1} 0 obj${object}endobj\n`).join('')}trailer<</Root 1 0 R/Size 6>>`);
}
