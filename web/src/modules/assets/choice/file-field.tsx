import { assetInfo } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Combobox } from '../../../ui/combobox.tsx';
import { Field } from '../../../ui/field.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { assetQuery } from '../asset-queries.ts';
import { isDataFile } from '../files/data-file.ts';

type Props = {
  datasetId: string;
  value: string | null;
  onChange: (path: string | null) => void;
  error?: string | undefined;
};

/** A choice of the data files of a dataset. Of more than an answer lists, the server finds those that begin as typed. */
export function FileField({ datasetId, value, onChange, error }: Props) {
  const dataset = useQuery(assetQuery(datasetId));
  const [typed, setTyped] = useState('');
  const prefix = useDebounced(typed.trim());
  const isCut = dataset.data != null && dataset.data.next_files_cursor !== null;
  const searching = isCut && prefix !== '';
  const found = useQuery({
    queryKey: ['asset', 'files', datasetId, { prefix }],
    queryFn: ({ signal }) =>
      call(
        assetInfo,
        { params: { id: datasetId }, query: { prefix } },
        { signal, operation: 'search the files' },
      ),
    enabled: searching,
  });
  const files = ((searching && found.data?.files) || (dataset.data?.files ?? [])).filter(({ path }) =>
    isDataFile(path),
  );
  const options = files.map(({ path, size_bytes }) => ({
    value: path,
    label: path,
    description: formatBytes(size_bytes),
  }));
  const isMissing = value !== null && !files.some(({ path }) => path === value);
  const isEmpty = dataset.isSuccess && !isCut && files.length === 0;
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
      <Combobox
        value={value}
        onChange={(path) => {
          setTyped('');
          onChange(path);
        }}
        onType={setTyped}
        found={searching && found.isSuccess}
        failed={searching && found.isError ? `The search failed: ${errorMessage(found.error)}` : undefined}
        loading={dataset.isPending || (searching && found.isPending)}
        disabled={isEmpty}
        placeholder={dataset.isPending ? 'Loading…' : 'Choose a file'}
        emptyText="No data files found"
        note={isCut ? 'There are more files than these: type the beginning of a path.' : undefined}
        options={isMissing ? [{ value, label: value, description: '' }, ...options] : options}
      />
    </Field>
  );
}
