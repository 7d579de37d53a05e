/** A data file that SQL can query, with what its path is of. */
export type TableFile = { path: string; sizeBytes: number };

/** A table and the files that it is made of: one, or the parts of one that was split. */
export type Table<F extends TableFile = TableFile> = { name: string; files: F[] };

/** How the parts of a file that was split are called: train-00000-of-00002.parquet. */
const PART = /-\d{5}-of-\d{5}(?=\.[^/]*$)/;
/** The first table is called so too. */
export const FIRST_NAME = 'data';

/**
 * One table for each data file, by the file's name without its ending; where two have one name, by their whole paths.
 * No two names are equal, in any case. Pure.
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

/** 'My facts (2).csv.gz' -> 'my_facts_2': nothing in it needs quotes. */
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

/** Whether a query may mean the table: its name stands in it somewhere. Only what is meant is opened. */
export function isNamed(query: string, table: string): boolean {
  return query.toLowerCase().includes(table);
}
