import type { Generator } from '@bakehouse/contract/generators/generator';
import { isUnusedField } from '@bakehouse/contract/generators/parameters/parameters';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type FormField, FormFields } from '../../../ui/form-fields.tsx';
import { type FormValues, withRange } from './form-values.ts';
import { LoraCombobox } from './lora-combobox.tsx';
import { lorasQuery } from './loras-query.ts';
import type { Draft } from './use-draft.ts';

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
