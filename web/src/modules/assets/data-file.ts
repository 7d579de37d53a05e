const endings = ['.csv', '.jsonl', '.json', '.txt', '.parquet'];

/** Whether a file with this name holds rows: its first ones can be shown, and training reads it. */
export function isDataFile(path: string): boolean {
  const name = path.toLowerCase();
  return endings.some((ending) => name.endsWith(ending));
}
