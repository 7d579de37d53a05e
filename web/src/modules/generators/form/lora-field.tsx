import type { Generator } from '@bakehouse/contract/generators/generator';
import { isUnusedField } from '@bakehouse/contract/generators/parameters/parameters';
import { listLoras } from '@bakehouse/contract/loras';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Combobox } from '../../../ui/combobox.tsx';
import { type FormField, FormFields } from '../../../ui/form-fields.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { assetQuery } from '../../assets/asset-queries.ts';
import { type FormValues, withRange } from './form-values.ts';
import type { Draft } from './use-draft.ts';

/** Pages through a user's LoRAs, newest first; `search` filters by name. */
export const lorasQuery = (userId: string, search = '') =>
  endpointPages(
    ['asset', 'list', userId, 'loras', search],
    listLoras,
    { params: { userId }, query: { search } },
    { rows: 'loras', id: 'id' },
  );

/** Value for no LoRA. */
const NONE = 'none';

type Props = {
  generator: Generator;
  draft: Pick<Draft, 'values'>;
  onChange: (changed: { values: FormValues }) => void;
  userId: string;
  /** Adds the explanation of a correction to a number field. */
  explain: (field: FormField<string>) => FormField<string>;
};

/** The user's LoRAs; rendered only if the provider accepts one and the user has one. */
export function LoraField({ generator, draft: { values }, onChange, userId, explain }: Props) {
  const field = generator.fields.find(({ kind }) => kind === 'lora');
  const enabled = field !== undefined;
  const { data, isPending, isError } = useInfiniteQuery({ ...lorasQuery(userId), enabled });
  const chosen = field && values[field.name];
  if (!enabled || isPending) return null;
  // After a failed read, the field shows the error.
  if (!isError && data.pages[0]?.loras.length === 0 && !chosen) return null;
  const strength = generator.fields.flatMap((one): FormField<string>[] =>
    one.kind === 'number' && one.onlyWith === field.name && !isUnusedField(one, values)
      ? [explain({ ...one, help: withRange(one) })]
      : [],
  );
  const change = (changed: Partial<FormValues>) =>
    onChange({ values: { ...values, ...changed } as FormValues });
  const control = (
    <LoraCombobox
      userId={userId}
      value={chosen ? String(chosen) : null}
      onChange={(id) => change({ [field.name]: id ?? '' })}
    />
  );
  return (
    <FormFields
      fields={[{ ...field, kind: 'control', control: () => control }, ...strength]}
      values={values}
      problems={{}}
      onChange={change}
    />
  );
}

type LoraComboboxProps = { userId: string; value: string | null; onChange: (id: string | null) => void };

/** Chooses one of the user's LoRAs; searches on the server if there is more than a page. */
function LoraCombobox({ userId, value, onChange }: LoraComboboxProps) {
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
