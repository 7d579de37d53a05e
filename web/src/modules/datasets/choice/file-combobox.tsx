import { type Asset, assetInfo } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Combobox } from '../../../ui/combobox.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { isDataFile } from '../files/data-file.ts';

type Props = {
  datasetId: string;
  /** Undefined while loading. */
  dataset: Pick<Asset, 'files' | 'next_files_cursor'> | undefined;
  value: string | null;
  onChange: (path: string | null) => void;
  /** Filters the files to choose from. Defaults to files that training reads. */
  accepts?: (path: string) => boolean;
  disabled?: boolean;
  'aria-label'?: string;
};

/** Chooses a data file of a dataset; searches by prefix on the server if there are too many to list. */
export function FileCombobox({ datasetId, dataset, value, onChange, accepts = isDataFile, ...rest }: Props) {
  const [typed, setTyped] = useState('');
  const prefix = useDebounced(typed.trim());
  const isCut = dataset !== undefined && dataset.next_files_cursor !== null;
  const searching = isCut && prefix !== '';
  const found = useQuery({
    ...endpointQuery(['asset', 'files', datasetId, { prefix }], assetInfo, {
      params: { id: datasetId },
      query: { prefix },
    }),
    enabled: searching,
  });
  const files = ((searching && found.data?.files) || (dataset?.files ?? [])).filter(({ path }) =>
    accepts(path),
  );
  const options = files.map(({ path, size_bytes }) => ({
    value: path,
    label: path,
    description: formatBytes(size_bytes),
  }));
  const isMissing = value !== null && !files.some(({ path }) => path === value);
  return (
    <Combobox
      {...rest}
      value={value}
      onChange={(path) => {
        setTyped('');
        onChange(path);
      }}
      onType={setTyped}
      found={searching && found.isSuccess}
      failed={searching && found.isError ? `The search failed: ${errorMessage(found.error)}` : undefined}
      loading={dataset === undefined || (searching && found.isPending)}
      placeholder={dataset === undefined ? 'Loading…' : 'Choose a file'}
      emptyText="No data files found"
      note={isCut ? 'There are more files. Type the start of a path to find them.' : undefined}
      options={isMissing ? [{ value, label: value, description: '' }, ...options] : options}
    />
  );
}
