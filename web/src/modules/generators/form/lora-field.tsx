import { listLoras } from '@bakehouse/contract/assets';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { isLeftOut } from '@bakehouse/contract/generators/parameters/parameters';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { type FormField, FormFields } from '../../../ui/form-fields.tsx';
import { type FormValues, withRange } from './form-values.ts';
import type { Draft } from './use-draft.ts';

const lorasQuery = (userId: string | undefined) =>
  queryOptions({
    // With the other lists of models: what is uploaded or deleted shows here too.
    queryKey: ['asset', 'list', userId, 'loras'],
    queryFn: async ({ signal }) =>
      (await call(listLoras, { params: { userId: userId ?? '' } }, { signal })).loras,
  });

/** A choice with an empty value would show that nothing is chosen. */
const NONE = 'none';

type Props = {
  generator: Generator;
  draft: Pick<Draft, 'values'>;
  onChange: (changed: { values: FormValues }) => void;
  userId: string | undefined;
  /** A number with what was typed in its place, if that did not fit. */
  explain: (field: FormField<string>) => FormField<string>;
};

/** The person's own LoRAs, where whoever draws takes one and there is one to choose. */
export function LoraField({ generator, draft: { values }, onChange, userId, explain }: Props) {
  const field = generator.fields.find(({ kind }) => kind === 'lora');
  const enabled = field !== undefined && userId !== undefined;
  const { data: loras = [], isPending } = useQuery({ ...lorasQuery(userId), enabled });
  const chosen = field && values[field.name];
  if (!field || isPending || (loras.length === 0 && !chosen)) return null;
  const options = [
    { value: NONE, label: 'None' },
    ...loras.map(({ id, title }) => ({ value: id, label: title })),
    ...(chosen && loras.every(({ id }) => id !== chosen)
      ? [{ value: String(chosen), label: 'Not one of your models' }]
      : []),
  ];
  const strength = generator.fields.flatMap((one): FormField<string>[] =>
    one.kind === 'number' && one.onlyWith === field.name && !isLeftOut(one, values)
      ? [explain({ ...one, help: withRange(one) })]
      : [],
  );
  return (
    <FormFields
      fields={[{ ...field, kind: 'choice', options }, ...strength]}
      values={{ ...values, [field.name]: chosen || NONE }}
      problems={{}}
      onChange={(changed) => {
        const isNone = changed[field.name] === NONE;
        onChange({ values: { ...values, ...changed, ...(isNone && { [field.name]: '' }) } as FormValues });
      }}
    />
  );
}
