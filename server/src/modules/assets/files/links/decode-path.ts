/** Decodes a path; returns it unchanged if its escapes are invalid. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
