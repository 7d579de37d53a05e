import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { validateCard as endpoint } from '@bakehouse/contract/hub/references';
import { parse } from 'yaml';
import { frontMatterOf, parseCardData } from '../repositories/read-card-data.ts';

/** What is wrong with the metadata of a card. Pure. */
export function validateCard({ body }: InputOf<typeof endpoint>): ResponseOf<typeof endpoint> {
  const metadata = frontMatterOf(body.content);
  if (metadata === null) {
    const message = 'The card has no metadata: some lines of YAML between two lines of ---, before its text';
    return { errors: [], warnings: [{ message }] };
  }
  if (parseCardData(body.content) !== null) return { errors: [], warnings: [] };
  return {
    errors: [{ message: `The metadata of the card cannot be read: ${reasonOf(metadata)}` }],
    warnings: [],
  };
}

function reasonOf(metadata: string): string {
  try {
    parse(metadata, { maxAliasCount: 100 });
    return 'it has to be names and values';
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it is not YAML';
  }
}
