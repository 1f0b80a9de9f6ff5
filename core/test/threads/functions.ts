/** What the test of threads runs in threads. */
export function add(left: number, right: number): number {
  return left + right;
}

export async function wait(milliseconds: number): Promise<number> {
  await new Promise((resolve) => { setTimeout(resolve, milliseconds); });
  return milliseconds;
}

export function sum(bytes: Uint8Array): { sum: number; buffer: number } {
  return { sum: bytes.reduce((total, byte) => total + byte, 0), buffer: bytes.buffer.byteLength };
}

export function zeros(length: number): Uint8Array {
  return new Uint8Array(length);
}

export function loop(): never {
  for (;;);
}

export function allocate(): never {
  const rows: object[] = [];
  for (;;) rows.push({ a: rows.length });
}

/** Bytes outside of the JavaScript heap: 600 MB, so that a machine survives a test that fails. */
export function allocateBytes(): never {
  const rows: Uint8Array[] = [];
  for (;;) if (rows.length < 60) rows.push(new Uint8Array(10_000_000).fill(1));
}

export function fail(message: string): never {
  throw new RangeError(message);
}

export function failWithText(): never {
  // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error
  throw 'a text';
}

export function exit(): never {
  process.exit(3);
}

export function unsendable(): () => void {
  return () => {};
}
