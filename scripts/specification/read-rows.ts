/** A row of docs/specification.md. */
export type Row = {
  /** File name and line number of the row. */
  at: string;
  section: string;
  /** The specified behavior. */
  line: string;
  /** Files and folders that implement the behaviour. */
  places: string[];
  tests: { file: string; title: string }[];
};

/** Returns the rows of the tables of docs/specification.md. */
export function readRows(document: string): Row[] {
  let section = '';
  return document.split('\n').flatMap((text, index) => {
    if (text.startsWith('## ')) section = text.slice(3);
    if (!/^\| (?!Line|-)/.test(text)) return [];
    const [, line = '', where = '', named = ''] = text.split(/(?<!\\)\|/);
    const tests = codes(named).map((code) => {
      const [file = '', title = ''] = code.split(/: (.*)/s);
      return { file, title };
    });
    return [{ at: `docs/specification.md:${index + 1}`, section, line, places: codes(where), tests }];
  });
}

/** Returns the texts in backticks. */
function codes(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
