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

/** Returns a PDF of one page whose contents are these streams, each with its filters, such as `/FlateDecode`. */
export function pdfWith(streams: [filters: string, bytes: Buffer][]): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents[${streams.map((_, index) => `${index + 5} 0 R`).join(' ')}]/Resources<</Font<</F1 4 0 R>>>>>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    ...streams.map(([filters, bytes]) => Buffer.concat([Buffer.from(`<</Length ${bytes.length}/Filter[${filters}]>>stream\n`), bytes, Buffer.from('\nendstream')])),
  ].map((object, index) => Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]));
  const header = Buffer.from('%PDF-1.7\n');
  let end = header.length;
  const table = objects.map(({ length }) => `${String((end += length) - length).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return Buffer.concat([header, ...objects, Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${end}\n%%EOF`)]);
}
