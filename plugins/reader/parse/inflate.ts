import { brotliDecompressSync, constants, inflateSync } from 'node:zlib';
import { LIMITS, type Cut } from './limits.ts';

/** By the format, as a DecompressionStream names it. Like pdf.js, it returns what there is of a stream without an end. */
const FORMATS: Record<string, (bytes: Uint8Array, maxOutputLength: number) => Uint8Array> = {
  deflate: (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  brotli: (bytes, maxOutputLength) => brotliDecompressSync(bytes, { maxOutputLength }),
};
/** After how many allocated bytes the memory of the thread is read. */
const STEP = 4_000_000;

/**
 * Calls a function that unpacks streams, and bounds their bytes: a few KB of a PDF can unpack to GBs, and pdf.js has no limit. A stream above the limits is
 * left out, and the document truncated. The limits of the thread are not enough: the C library keeps the memory of many small buffers, also after the thread
 * ends, so that the process would grow with each such document.
 *
 * Replaces the classes that pdf.js unpacks with, so a thread makes one call at a time.
 */
export async function withBoundedStreams<T>(cut: Cut, read: () => Promise<T>): Promise<T> {
  const { DecompressionStream, Int8Array, Uint8Array, Uint16Array } = globalThis;
  Object.assign(globalThis, { DecompressionStream: boundedDecompression(cut), ...boundedArrays(cut) });
  try {
    return await read();
  } finally {
    Object.assign(globalThis, { DecompressionStream, Int8Array, Uint8Array, Uint16Array });
  }
}

function boundedDecompression(cut: Cut) {
  let left: number = LIMITS.pdf_bytes;

  function unpack(format: string, bytes: Uint8Array): Uint8Array {
    try {
      const unpacked = FORMATS[format]!(bytes, Math.max(1, Math.min(left, LIMITS.pdf_stream)));
      left -= unpacked.length;
      return unpacked;
    } catch (error) {
      // pdf.js tries to read a broken stream by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
      cut.truncated = true;
      left -= LIMITS.pdf_stream;
      return new Uint8Array();
    }
  }

  return class extends TransformStream<Uint8Array, Uint8Array> {
    /** pdf.js writes all bytes of a stream at once. */
    constructor(format: string) {
      super({ transform: (bytes, controller) => controller.enqueue(unpack(format, bytes)) });
    }
  };
}

/** The arrays of the decoders that are part of pdf.js: those of other filters, such as the tables of LZW, of object streams and of broken streams. */
function boundedArrays(cut: Cut) {
  let unread = 0;
  const small = LIMITS.pdf_small_buffers.map(() => 0);
  let pieces = 0;

  function refuse(): never {
    cut.truncated = true;
    throw new RangeError('The streams of the document are too large.');
  }

  function admit(length: number): void {
    unread += length;
    if (length > LIMITS.pdf_buffer) refuse();
    for (const [index, { size, total }] of LIMITS.pdf_small_buffers.entries()) if (length <= size && (small[index]! += length) > total) refuse();
    if (unread < STEP) return;
    unread = 0;
    if (process.memoryUsage().arrayBuffers > LIMITS.pdf_memory) refuse();
  }

  /** Only the Brotli decoder uses signed arrays: pieces of 16 KB, and then the whole. */
  function admitPiece(length: number): void {
    pieces += length;
    if (pieces > 2 * LIMITS.pdf_stream) refuse();
  }

  const bounded = <C extends Int8ArrayConstructor | Uint8ArrayConstructor | Uint16ArrayConstructor>(type: C, check: (length: number) => void): C => new Proxy(type, {
    construct(target, given) {
      if (typeof given[0] === 'number') check(given[0] * target.BYTES_PER_ELEMENT);
      return Reflect.construct(target, given) as object;
    },
  });
  return { Int8Array: bounded(Int8Array, admitPiece), Uint8Array: bounded(Uint8Array, admit), Uint16Array: bounded(Uint16Array, admit) };
}
