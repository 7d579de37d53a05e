/** A data file that SQL can query. */
export type TableFile = { path: string; sizeBytes: number };

/** A table and its files: one file, or the parts of a split file. */
export type Table<F extends TableFile = TableFile> = { name: string; files: F[] };

/** Names of the parts of a split file: train-00000-of-00002.parquet. */
const PART = /-\d{5}-of-\d{5}(?=\.[^/]*$)/;
/** Alias of the first table. */
export const FIRST_NAME = 'data';

/**
 * Returns one table per data file, named after the file without its extension, or after its whole path if
 * names collide. Names are unique regardless of case.
 */
export function nameTables<F extends TableFile>(files: readonly F[]): Table<F>[] {
  const groups = new Map<string, F[]>();
  for (const file of files) {
    const whole = file.path.replace(PART, '');
    groups.set(whole, [...(groups.get(whole) ?? []), file]);
  }
  const paths = [...groups.keys()];
  const short = paths.map((path) => toName(path.split('/').at(-1) ?? path));
  const taken = new Set<string>();
  return paths.map((path, at) => {
    const own = short[at] ?? '';
    const isShared = short.filter((other) => other === own).length > 1 || (own === FIRST_NAME && at > 0);
    const name = untaken(isShared ? toName(path) : own, taken);
    taken.add(name);
    return { name, files: groups.get(path) ?? [] };
  });
}

/** 'My facts (2).csv.gz' -> 'my_facts_2', an identifier that needs no quotes. */
function toName(path: string): string {
  const words = path
    .replace(/\.gz$/i, '')
    .replace(/\.[^./]*$/, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  if (words === '') return 'file';
  return /^\p{N}/u.test(words) ? `t_${words}` : words;
}

function untaken(name: string, taken: ReadonlySet<string>): string {
  let [free, count] = [name, 1];
  while (taken.has(free) || (free === FIRST_NAME && taken.size > 0)) free = `${name}_${(count += 1)}`;
  return free;
}

/** True if the query may reference the table, so that only those tables are opened. */
export function isNamed(query: string, table: string): boolean {
  return query.toLowerCase().includes(table);
}
