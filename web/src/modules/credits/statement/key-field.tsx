import { useQuery } from '@tanstack/react-query';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { useUser } from '../../accounts/api.ts';
import { spendQuery } from '../api.ts';
import type { Period } from './period.ts';

type Props = {
  /** Of what is listed: keys that spent nothing in it are not offered. */
  period: Period;
  /** The id of the chosen key; undefined for all. */
  value: string | undefined;
  onChange: (key: string | undefined) => void;
};

const ALL = 'all';

/** Which API key's transactions are listed. */
export function KeyField({ period, value, onChange }: Props) {
  const { data } = useQuery(spendQuery(useUser().id, period));
  const keys = (data?.keys ?? []).flatMap(({ key_id, key_name }) =>
    key_id === null ? [] : [{ value: key_id, label: key_name ?? 'Deleted key' }],
  );
  const isListed = value === undefined || keys.some((key) => key.value === value);
  const chosen = isListed ? [] : [{ value, label: 'The chosen key' }];
  return (
    <Field label="API key" className="basis-full sm:w-44 sm:basis-auto">
      <Select
        value={value ?? ALL}
        onChange={(key) => onChange(key === ALL ? undefined : key)}
        options={[{ value: ALL, label: 'All' }, ...keys, ...chosen]}
      />
    </Field>
  );
}
