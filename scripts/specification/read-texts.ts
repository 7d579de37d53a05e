import { type Node, parseSync } from 'oxc-parser';

/**
 * Returns the complete texts of a TypeScript file: strings, templates, concatenations, and contents of
 * elements. Placeholders become '{}'. Ignores comments and types.
 */
export function readTexts(path: string, source: string): Set<string> {
  const texts = new Set<string>();
  visit(parseSync(path, source).program, (node) => {
    if (isText(node)) texts.add(tidy(textOf(node)));
    const noun = missingNoun(node);
    if (noun !== null) texts.add(`${noun} not found`);
  });
  return texts;
}

/** Returns the noun of a call such as `notFound('Video')`, which creates the message 'Video not found'. */
function missingNoun(node: Node): string | null {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return null;
  const [noun] = node.arguments;
  return node.callee.name === 'notFound' && noun && isText(noun) ? textOf(noun) : null;
}

/** Replaces typographic quotes, and collapses whitespace. */
export function tidy(text: string): string {
  return text.replaceAll('&apos;', "'").replace(/\s+/g, ' ').trim();
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) {
    if (value.type === 'TSLiteralType') return;
    see(value);
  }
  for (const child of Object.values(value)) visit(child, see);
}

function isNode(value: object): value is Node {
  return 'type' in value && typeof value.type === 'string';
}

function isText(node: Node): boolean {
  return (
    (node.type === 'Literal' && typeof node.value === 'string') ||
    (node.type === 'BinaryExpression' && node.operator === '+') ||
    ['TemplateLiteral', 'JSXText', 'JSXElement', 'JSXFragment'].includes(node.type)
  );
}

function textOf(node: Node): string {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('{}');
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return textOf(node.left) + textOf(node.right);
  if (node.type === 'JSXText') return node.value;
  if (node.type === 'JSXExpressionContainer') return textOf(node.expression);
  if (node.type === 'JSXElement' || node.type === 'JSXFragment') return node.children.map(textOf).join('');
  return '{}';
}
