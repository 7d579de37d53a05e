import path from 'node:path';
import type { Imported, Measured, Source } from './read-source.ts';

/** Maximum sizes. A file of up to `linesOfCrumb` lines must be merged into its only importer. */
export const limits = { linesOfFile: 400, linesOfFunction: 70, filesOfFolder: 25, linesOfCrumb: 12 };

/** Maximum number of lines and files of a package, without tests, migrations and generated files. */
export type Budget = { lines: number; files: number };

/** For each module's folder, the files that other modules may import. */
export type PublicFiles = Record<string, string[]>;

const budgets: Record<string, Budget> = {
  server: { lines: 85_028, files: 835 },
  web: { lines: 54_261, files: 781 },
  runtime: { lines: 23_830, files: 193 },
  contract: { lines: 12_318, files: 131 },
  scripts: { lines: 7_959, files: 100 },
};

/**
 * A file of the repository. `path` is relative to the root. `lines` is null for files such as images, whose
 * number of lines means nothing. `source` exists for TypeScript only, and `functions` for all supported
 * languages.
 */
export type TreeFile = { path: string; lines: number | null; functions: Measured[]; source: Source | null };

/** A broken rule, where it is broken (a path; #name for functions and contract entries), and a message. */
export type Breach = { rule: Rule; where: string; message: string };
export type Rule = 'file' | 'function' | 'folder' | 'crumb' | 'private' | 'contract' | 'budget';

/** Returns all breaches of the structure rules. */
export function findBreaches(files: TreeFile[], publicFiles: PublicFiles = {}): Breach[] {
  return [
    ...findLongFiles(files),
    ...findLongFunctions(files),
    ...findFullFolders(files),
    ...findCrumbs(files),
    ...findPrivateImports(files, publicFiles),
    ...findUnusedContract(files),
    ...findOverBudget(files),
  ];
}

function findLongFiles(files: TreeFile[]): Breach[] {
  return files.flatMap(({ path: where, lines }) =>
    lines !== null && lines > limits.linesOfFile
      ? [
          {
            rule: 'file',
            where,
            message: `${lines} lines; ${limits.linesOfFile} at most. Split it by what its parts are for.`,
          },
        ]
      : [],
  );
}

function findLongFunctions(files: TreeFile[]): Breach[] {
  const most = limits.linesOfFunction;
  return files.flatMap((file) =>
    file.functions
      .filter(({ lines }) => lines > most)
      .map(({ name, line, lines }) => ({
        rule: 'function' as const,
        where: `${file.path}#${name}`,
        message: `${lines} lines, from line ${line}; ${most} at most. Give its parts names of their own.`,
      })),
  );
}

function findFullFolders(files: TreeFile[]): Breach[] {
  const counts = new Map<string, number>();
  for (const file of files) {
    if (isTest(file.path)) continue;
    const folder = path.posix.dirname(file.path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > limits.filesOfFolder)
    .map(([where, count]) => ({
      rule: 'folder',
      where,
      message: `${count} files beside tests; ${limits.filesOfFolder} at most. Give those that belong together a folder.`,
    }));
}

/**
 * Returns small files that only one other file of the same part imports, counting tests. They should be
 * merged into that file. Excludes files that are found by their name: jobs, routes and their handlers.
 */
function findCrumbs(files: TreeFile[]): Breach[] {
  const users = new Map<string, Set<string>>();
  for (const file of files)
    for (const { target } of importsOf(file))
      users.set(target, (users.get(target) ?? new Set()).add(file.path));
  return files.flatMap(({ path: where, lines }): Breach[] => {
    const [user, ...others] = users.get(where) ?? [];
    if (lines === null || lines > limits.linesOfCrumb || user === undefined || others.length > 0) return [];
    if (partOf(where) === null || partOf(where) !== partOf(user)) return [];
    const isNamed = /\/jobs\//.test(where) || [where, user].some((file) => /\/routes\.tsx?$/.test(file));
    if (isTest(where) || isTest(user) || isNamed) return [];
    const message = `${lines} lines, which ${user} alone imports. Put them there.`;
    return [{ rule: 'crumb', where, message }];
  });
}

/** Returns the packages whose source, without tests and generated files, exceeds their budget. */
export function findOverBudget(files: TreeFile[], limitsOf: Record<string, Budget> = budgets): Breach[] {
  return Object.entries(limitsOf).flatMap(([where, budget]): Breach[] => {
    const source = files.filter((file) => file.path.startsWith(`${where}/`) && isSource(file.path));
    const lines = source.reduce((sum, file) => sum + (file.lines ?? 0), 0);
    if (lines <= budget.lines && source.length <= budget.files) return [];
    const message =
      `${lines} lines in ${source.length} source files; ${budget.lines} in ${budget.files} at most. ` +
      'Remove as much as you add, or raise the budget in scripts/structure/find-breaches.ts and say why.';
    return [{ rule: 'budget', where, message }];
  });
}

function isSource(file: string): boolean {
  return /\.(ts|tsx|py|css)$/.test(file) && !isTest(file) && !/\/tests\//.test(file);
}

/** Returns the part within which a file may be merged: a module, a layer without modules, the scripts. */
function partOf(file: string): string | null {
  return /^((server|web)\/src\/((modules|wires)\/)?[^/]+|scripts)\//.exec(file)?.[1] ?? null;
}

/**
 * Returns imports of another module's private files, and public files that no other module imports. Types,
 * tests, and files outside of modules (`app.ts`, the shell) are exempt.
 */
function findPrivateImports(files: TreeFile[], publicFiles: PublicFiles): Breach[] {
  const used = new Set<string>();
  const foreign = files.flatMap((file) => {
    const own = moduleOf(file.path);
    if (own === null || isTest(file.path)) return [];
    return importsOf(file).flatMap(({ target, values, line }): Breach[] => {
      const other = moduleOf(target);
      if (values.length === 0 || other === null || other === own) return [];
      used.add(target);
      if (publicFiles[other]?.includes(target.slice(other.length + 1))) return [];
      const message =
        `${file.path}:${line} imports ${values.join(', ')} from it, but it is private to ${other}. ` +
        'Use a public function, or list the file in scripts/structure/public-files.json.';
      return [{ rule: 'private', where: target, message }];
    });
  });
  const unused = Object.entries(publicFiles)
    .flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`))
    .filter((where) => !used.has(where))
    .map(
      (where): Breach => ({
        rule: 'private',
        where,
        message: 'is listed in scripts/structure/public-files.json, but no other module imports it.',
      }),
    );
  return [...foreign, ...unused];
}

/** Returns contract entries that no other file uses, and endpoints that no route of the server binds. */
function findUnusedContract(files: TreeFile[]): Breach[] {
  const users = findUsers(files);
  return files
    .filter((file) => file.path.startsWith('contract/src/') && !isTest(file.path))
    .flatMap((file) =>
      (file.source?.exports ?? []).flatMap(({ name, kind, line }): Breach[] => {
        const where = `${file.path}#${name}`;
        const by = users.get(where) ?? [];
        // Listing all entries of a namespace binds no endpoint.
        const isBound = by.some((user) => user.startsWith('server/') && !isTest(user));
        if (kind === 'endpoint' ? isBound : by.length > 0 || users.has(`${file.path}#*`)) return [];
        const what = kind === 'endpoint' ? 'no route of the server binds it' : 'no other file uses it';
        return [{ rule: 'contract', where, message: `line ${line}: ${what}.` }];
      }),
    );
}

/** The files that import each entry, by 'path of the file#name of the entry'. */
function findUsers(files: TreeFile[]): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const file of files)
    for (const { target, values, types } of importsOf(file))
      for (const name of [...values, ...types]) {
        const key = `${target}#${name}`;
        users.set(key, [...(users.get(key) ?? []), file.path]);
      }
  return users;
}

function importsOf(file: TreeFile): (Imported & { target: string })[] {
  return (file.source?.imports ?? []).flatMap((each) => {
    const target = resolve(file.path, each.from);
    return target === null ? [] : [{ ...each, target }];
  });
}

function resolve(from: string, name: string): string | null {
  if (name.startsWith('@bakehouse/contract/'))
    return `contract/src/${name.slice('@bakehouse/contract/'.length)}.ts`;
  return name.startsWith('.') ? path.posix.join(path.posix.dirname(from), name) : null;
}

function moduleOf(file: string): string | null {
  return /^(server\/src\/engine|(?:server|web)\/src\/(?:modules|wires)\/[^/]+)\//.exec(file)?.[1] ?? null;
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$|^server\/src\/(.*\/)?testing\/|^e2e\//.test(file);
}
