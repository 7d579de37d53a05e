import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Combobox } from '../../../ui/combobox.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { assetQuery } from '../../datasets/asset-queries.ts';
import { lorasQuery } from './loras-query.ts';

/** Value for no LoRA. */
const NONE = 'none';

type Props = { userId: string; value: string | null; onChange: (id: string | null) => void };

/** Chooses one of the user's LoRAs; searches on the server if there is more than a page. */
export function LoraCombobox({ userId, value, onChange }: Props) {
  const newest = useInfiniteQuery(lorasQuery(userId));
  const [typed, setTyped] = useState('');
  const search = useDebounced(typed.trim());
  const searching = newest.hasNextPage && search !== '';
  const found = useInfiniteQuery({ ...lorasQuery(userId, search), enabled: searching });
  const read = searching ? found : newest;
  const loras = read.data?.pages.flatMap((page) => page.loras) ?? [];
  const isAmong = loras.some(({ id }) => id === value);
  const { data: chosen } = useQuery({ ...assetQuery(value ?? ''), enabled: value !== null && !isAmong });
  return (
    <Combobox
      value={value}
      onChange={(id) => {
        setTyped('');
        onChange(id === NONE ? null : id);
      }}
      onType={setTyped}
      placeholder="None"
      emptyText="No LoRAs found"
      found={searching && found.data !== undefined}
      loading={read.isPending}
      failed={read.isError ? `Your LoRAs could not be loaded: ${errorMessage(read.error)}` : undefined}
      note={read.hasNextPage ? 'There are more. Type to find them by name.' : undefined}
      options={[
        ...(value === null ? [] : [{ value: NONE, label: 'None' }]),
        ...(value === null || isAmong ? [] : [{ value, label: chosen?.title ?? 'Not one of your models' }]),
        ...loras.map(({ id, title, owner_username: by }) => ({
          value: id,
          label: title,
          ...(by && { description: `By ${by}` }),
        })),
      ]}
    />
  );
}
