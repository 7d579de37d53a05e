import { useQuery } from '@tanstack/react-query';
import { Field } from '../../../ui/field.tsx';
import { assetQuery } from '../asset-queries.ts';
import { mayHaveDataFiles } from '../files/selected-data-file.ts';
import { FileCombobox } from './file-combobox.tsx';

type Props = {
  datasetId: string;
  value: string | null;
  onChange: (path: string | null) => void;
  error?: string | undefined;
};

/** A choice of the data files of a dataset, as a field of a form. */
export function FileField({ datasetId, value, onChange, error }: Props) {
  const { data: dataset } = useQuery(assetQuery(datasetId));
  const isEmpty = dataset !== undefined && !mayHaveDataFiles(dataset);
  return (
    <Field
      label="File"
      error={error}
      help={
        isEmpty
          ? 'This dataset has no csv, jsonl, json, txt or parquet file yet. Upload one on its page.'
          : undefined
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
