/**
 * Returns true if a JSON text has more than `max` commas, brackets and strings, without parsing it, which
 * would block the event loop. The contents of strings do not count.
 */
export function hasMoreTokens(json: string, max: number): boolean {
  const token = /[",[{]/g;
  for (let count = 0; token.test(json); count += 1) {
    if (count === max) return true;
    if (json[token.lastIndex - 1] === '"') token.lastIndex = endOfString(json, token.lastIndex);
  }
  return false;
}

/** Returns the index after the closing quote of the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  for (let end = json.indexOf('"', from); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = end;
    while (json[escapes - 1] === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
  return json.length;
}
