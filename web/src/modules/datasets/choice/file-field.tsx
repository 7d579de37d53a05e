import type { Asset } from '@bakehouse/contract/assets';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Field } from '../../../ui/field.tsx';
import { assetQuery } from '../asset-queries.ts';
import { fileProblemQuery } from '../files/check-files.ts';
import { mayHaveDataFiles } from '../files/selected-data-file.ts';
import { FileCombobox } from './file-combobox.tsx';

type Props = {
  datasetId: string;
  value: string | null;
  onChange: (path: string | null) => void;
  error?: string | undefined;
};

/** A form field to choose a data file of a dataset. */
export function FileField({ datasetId, value, onChange, error }: Props) {
  const { data: dataset } = useQuery(assetQuery(datasetId));
  const problem = useProblem(dataset, value);
  const isEmpty = dataset !== undefined && !mayHaveDataFiles(dataset);
  return (
    <Field
      label="File"
      error={error}
      help={
        isEmpty
          ? 'This dataset has no csv, jsonl, json, txt or parquet file yet. Upload one on its page.'
          : problem && <span className="text-warn">{problem}</span>
      }
    >
      <FileCombobox
        datasetId={datasetId}
        dataset={dataset}
        value={value}
        onChange={onChange}
        disabled={isEmpty}
      />
    </Field>
  );
}

/** Returns the problem of the selected file, if it is among the dataset's first files. */
function useProblem(dataset: Asset | undefined, path: string | null): string | null | undefined {
  const file = dataset?.files.find((one) => one.path === path);
  const revisionId = dataset?.revision_id;
  const checked = dataset && file && revisionId ? [{ assetId: dataset.dataset_id, revisionId, file }] : [];
  const [answer] = useQueries({ queries: checked.map(fileProblemQuery) });
  return answer?.data;
}
