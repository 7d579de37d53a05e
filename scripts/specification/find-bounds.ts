/** The maximum of a number, or of the length of a list, in a call. */
export type Bound = { name: string; max: number };

type Schema = {
  $ref?: string;
  maximum?: number;
  exclusiveMaximum?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};
type Operation = {
  parameters?: { name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
export type OpenApi = {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

/** Returns the upper bounds of all inputs, without duplicates and ordered by name. */
export function findBounds({ paths, components }: OpenApi): Bound[] {
  const schemas = components?.schemas ?? {};
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const found = operations.flatMap(({ parameters = [], requestBody }) => [
    ...parameters.flatMap(({ name, schema }) => boundsOf(name, schema, schemas)),
    ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => boundsOf('body', schema, schemas)),
  ]);
  const byText = new Map(found.map((bound) => [`${bound.name} ${bound.max}`, bound]));
  return [...byText.values()].toSorted((a, b) => a.name.localeCompare(b.name) || a.max - b.max);
}

function boundsOf(name: string, schema: Schema, schemas: Record<string, Schema>): Bound[] {
  const named = schema.$ref && schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (named) return boundsOf(name, named, schemas);
  const { maximum, exclusiveMaximum, maxItems, properties = {}, items, additionalProperties: rest } = schema;
  const own = [maximum, exclusiveMaximum, maxItems].flatMap((max) =>
    // Skip the largest safe integer, which zod sets by default.
    max === undefined || max === Number.MAX_SAFE_INTEGER ? [] : { name: toSnakeCase(name), max },
  );
  const parts = [items, typeof rest === 'object' ? rest : undefined, schema.anyOf, schema.oneOf, schema.allOf]
    .flat()
    .flatMap((part) => (part ? boundsOf(name, part, schemas) : []));
  return [
    ...own,
    ...parts,
    ...Object.entries(properties).flatMap(([key, part]) => boundsOf(key, part, schemas)),
  ];
}

/** Converts camelCase, which configurations also accept, to snake_case. */
function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the bounds in a page's tables. The first column contains names, the second one numbers. */
export function readBounds(page: string): Bound[] {
  return page.split('\n').flatMap((line) => {
    const [, first = '', second = ''] = line.split('|');
    const names = [...first.matchAll(/`([a-z_[\]]+)`/g)].map(([, name = '']) => name);
    const numbers = [...second.matchAll(/\d[\d,.]*/g)].map(([text]) => Number(text.replaceAll(',', '')));
    return names.flatMap((name) => numbers.map((max) => ({ name, max })));
  });
}
