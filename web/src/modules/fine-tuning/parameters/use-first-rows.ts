import { useQuery } from '@tanstack/react-query';
import { previewQuery } from '../../datasets/asset-calls.ts';
import { assetQuery } from '../../datasets/asset-queries.ts';

export type ChosenRows = { datasetId: string | null; fileName: string | null };

/** Returns the first rows of the chosen file, the row count and the detected format. */
export function useFirstRows({ datasetId, fileName }: ChosenRows) {
  const dataset = useQuery({ ...assetQuery(datasetId ?? ''), enabled: datasetId !== null });
  return useQuery({
    ...previewQuery({
      assetId: datasetId ?? '',
      revisionId: dataset.data?.revision_id ?? '',
      path: fileName ?? '',
      offset: 0,
    }),
    enabled: Boolean(dataset.data?.revision_id && fileName),
  });
}
