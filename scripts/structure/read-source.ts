import { type Node, type Program, parseSync, Visitor } from 'oxc-parser';

/** A name that a file exports. `kind` has only the distinctions that the rules need. */
export type Exported = { name: string; kind: 'type' | 'function' | 'endpoint' | 'value'; line: number };

/**
 * The names that a file imports from another one. For a namespace (`import * as credits`), these are the
 * members that are accessed (`credits.getBalance`), or '*' if the namespace is spread or listed.
 */
export type Imported = { from: string; values: string[]; types: string[]; line: number };

/** A function with its first line, and its number of lines. */
export type Measured = { name: string; line: number; lines: number };

/** The parts of a TypeScript file that the rules need. */
export type Source = { functions: Measured[]; exports: Exported[]; imports: Imported[] };

/** Reads a TypeScript file. */
export function readSource(path: string, text: string): Source {
  const { program, module } = parseSync(path, text);
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const kinds = kindsOf(program, text);
  const entries = module.staticExports.flatMap((statement) => statement.entries);
  const exports = entries.map(({ exportName, isType, start }): Exported => {
    const name = exportName.name ?? 'default';
    return { name, kind: isType ? 'type' : (kinds.get(name) ?? 'value'), line: lineAt(start) };
  });
  const imports = module.staticImports.map((statement): Imported => {
    const namesOf = (wanted: boolean) =>
      statement.entries
        .filter(({ isType }) => isType === wanted)
        .flatMap(({ importName, localName }) =>
          isNamespace(importName) ? namesBehind(localName.value, text) : [importName.name ?? 'default'],
        );
    const from = statement.moduleRequest.value;
    return { from, values: namesOf(false), types: namesOf(true), line: lineAt(statement.start) };
  });
  const passedOn = entries.flatMap(({ moduleRequest, importName, isType, start }): Imported[] => {
    if (!moduleRequest) return [];
    const names = [importName.name ?? '*'];
    return [
      {
        from: moduleRequest.value,
        values: isType ? [] : names,
        types: isType ? names : [],
        line: lineAt(start),
      },
    ];
  });
  return { functions: measureFunctions(program, text, lineAt), exports, imports: [...imports, ...passedOn] };
}

/** Returns the functions and endpoints that the file declares and exports. */
function kindsOf(program: Program, text: string): Map<string, Exported['kind']> {
  const kinds = new Map<string, Exported['kind']>();
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue;
    const { declaration } = statement;
    if (declaration?.type === 'FunctionDeclaration' && declaration.id)
      kinds.set(declaration.id.name, 'function');
    if (declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations) {
      if (id.type !== 'Identifier' || !init) continue;
      if (isFunction(init)) kinds.set(id.name, 'function');
      if (init.type === 'CallExpression' && textOf(init.callee, text) === 'endpoint')
        kinds.set(id.name, 'endpoint');
    }
  }
  return kinds;
}

/**
 * Returns every function with its name, or the name of its variable. Excludes groups of tests (`describe`).
 * Nested functions are listed separately too.
 */
function measureFunctions(program: Program, text: string, lineAt: (offset: number) => number): Measured[] {
  const names = new Map<Node, string>();
  const found: Measured[] = [];
  const measure = (node: Node & { id?: { name: string } | null }) => {
    const name = node.id?.name ?? names.get(node) ?? 'anonymous';
    const line = lineAt(node.start);
    if (!name.startsWith('describe')) found.push({ name, line, lines: lineAt(node.end) - line + 1 });
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (init && id.type === 'Identifier') names.set(init, id.name);
    },
    Property: ({ key, value }) => names.set(value, textOf(key, text)),
    PropertyDefinition: ({ key, value }) => value && names.set(value, textOf(key, text)),
    MethodDefinition: ({ key, value }) => names.set(value, textOf(key, text)),
    CallExpression: ({ callee, arguments: given }) => {
      for (const each of given) names.set(each, textOf(callee, text));
    },
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  return found;
}

/** Compares with a text, because the type is an enum that does not exist at runtime. */
function isNamespace({ kind }: { kind: string }): boolean {
  return kind === 'NamespaceObject';
}

function isFunction(node: Node): boolean {
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';
}

function namesBehind(namespace: string, text: string): string[] {
  const members = text.matchAll(new RegExp(`(?<![\\w.])${namespace}\\.(\\w+)`, 'g'));
  const spread = new RegExp(`\\.\\.\\.${namespace}\\b|^ +${namespace},$`, 'm').test(text) ? ['*'] : [];
  return [...new Set([...members].map(([, name = '']) => name)), ...spread];
}

function textOf({ start, end }: Node, text: string): string {
  return text.slice(start, end);
}
