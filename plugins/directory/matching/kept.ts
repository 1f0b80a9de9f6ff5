const MOST_KEPT = 20_000;

/** Returns the function with the results of the last words kept: the same names are compared with many others. */
export function kept<Result>(compute: (word: string) => Result): (word: string) => Result {
  const results = new Map<string, Result>();
  return (word) => {
    const known = results.get(word);
    if (known !== undefined) return known;
    if (results.size >= MOST_KEPT) results.clear();
    const result = compute(word);
    results.set(word, result);
    return result;
  };
}
