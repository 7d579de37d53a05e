import { useQuery } from '@tanstack/react-query';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { everyApiKeyQuery } from '../../accounts/keys/key-calls.ts';
import { useUser } from '../../accounts/session.ts';

type Props = {
  /** The id of the selected key; undefined for all. */
  value: string | undefined;
  onChange: (key: string | undefined) => void;
};

const ALL = 'all';

/** Filters transactions by API key, including revoked keys. */
export function KeyField({ value, onChange }: Props) {
  const { data } = useQuery(everyApiKeyQuery(useUser().id));
  const keys = (data?.api_keys ?? []).map(({ id, name, revoked_at }) => ({
    value: id,
    label: revoked_at === null ? name : `${name} (revoked)`,
  }));
  const isListed = value === undefined || keys.some((key) => key.value === value);
  const chosen = isListed ? [] : [{ value, label: 'The selected key' }];
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
