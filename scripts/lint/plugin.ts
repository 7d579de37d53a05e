/** The project's own lint rule, loaded by oxlint.config.ts: imports go in one direction. */
import path from 'node:path';
import { root } from '../root.ts';
import { checkImport, findPackageViolation, findReexportViolation } from './directions.ts';

type Source = { type: string; value?: unknown };
type Context = { filename: string; report: (problem: { node: Source; message: string }) => void };

function findViolation(filename: string, name: string): string | null {
  const from = relativeToRoot(filename);
  if (name.startsWith('.'))
    return checkImport(from, relativeToRoot(path.resolve(path.dirname(filename), name)));
  if (name.startsWith('@bakehouse/')) return checkImport(from, `${name.slice('@bakehouse/'.length)}.ts`);
  return findPackageViolation(from, name);
}

function relativeToRoot(file: string): string {
  return path.relative(root, file).split(path.sep).join('/');
}

const direction = {
  create(context: Context) {
    const check = ({ source }: { source: Source | null }) => {
      if (typeof source?.value !== 'string') return;
      const reason = findViolation(context.filename, source.value);
      if (reason) context.report({ node: source, message: reason });
    };
    const checkReexport = (node: { source: Source | null }) => {
      check(node);
      const reason = node.source && findReexportViolation(relativeToRoot(context.filename));
      if (node.source && reason) context.report({ node: node.source, message: reason });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: checkReexport,
      ExportAllDeclaration: checkReexport,
    };
  },
};

export default { meta: { name: 'bakehouse' }, rules: { direction } };
