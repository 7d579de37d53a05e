/** Example queries that work on any table. */
export function sqlExamples(table: string): { label: string; query: string }[] {
  return [
    { label: 'First rows', query: `SELECT *\nFROM ${table}\nLIMIT 100` },
    { label: 'Count rows', query: `SELECT count(*) AS rows\nFROM ${table}` },
    { label: 'Summarize columns', query: `SUMMARIZE ${table}` },
    { label: 'Random sample', query: `SELECT *\nFROM ${table}\nUSING SAMPLE 20 ROWS` },
    {
      label: 'Find duplicate rows',
      query: `SELECT *, count(*) AS times\nFROM ${table}\nGROUP BY ALL\nHAVING count(*) > 1\nORDER BY times DESC`,
    },
  ];
}
