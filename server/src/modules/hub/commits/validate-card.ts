import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { validateCard as endpoint } from '@bakehouse/contract/hub/references';
import { findMetadataProblem } from '../../assets/card/find-metadata-problem.ts';
import { frontMatterOf } from '../../assets/card/read-card-data.ts';

/** What is wrong with the metadata of a card. Pure. */
export function validateCard({ body }: InputOf<typeof endpoint>): ResponseOf<typeof endpoint> {
  if (frontMatterOf(body.content) === null) {
    const message = 'The card has no metadata: some lines of YAML between two lines of ---, before its text';
    return { errors: [], warnings: [{ message }] };
  }
  const problem = findMetadataProblem(body.content);
  return { errors: problem === null ? [] : [{ message: problem }], warnings: [] };
}
