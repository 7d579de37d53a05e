import { useQuery } from '@tanstack/react-query';
import { assetQuery } from '../../datasets/asset-queries.ts';
import type { Basis } from './suggested-parameters.ts';
import { type ChosenRows, useFirstRows } from './use-first-rows.ts';

/** Returns the basis of the suggestions; null until the file and the base model are loaded. */
export function useBasis(choice: ChosenRows & { baseModelId: string | null }): Basis | null {
  const { data: rows } = useFirstRows(choice);
  const { baseModelId } = choice;
  const { data: base } = useQuery({ ...assetQuery(baseModelId ?? ''), enabled: baseModelId !== null });
  return rows && base ? { rows: rows.total_rows, baseBytes: base.size_bytes } : null;
}
