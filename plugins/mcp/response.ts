interface Message {
  result?: Record<string, unknown>;
}

/** Returns the JSON of a response. Inserts `json` as its `structuredContent` if the tool has it, instead of serializing the data again. */
export function responseText(message: object, json: string | null): string {
  const { result, ...envelope } = message as Message;
  if (json === null || result?.['structuredContent'] === undefined) return JSON.stringify(message);
  const { structuredContent: _known, ...rest } = result;
  return `${JSON.stringify({ ...envelope, result: rest }).slice(0, -2)},"structuredContent":${json}}}`;
}
