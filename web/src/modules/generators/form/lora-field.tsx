import type { Generator } from '@bakehouse/contract/generators/generator';
import { isLeftOut } from '@bakehouse/contract/generators/parameters/parameters';
import { useInfiniteQuery } from '@tanstack/react-query';
import { loadable } from '../../../lib/loadable.tsx';
import { DeferredPart } from '../../../ui/deferred-part.tsx';
import { type FormField, FormFields } from '../../../ui/form-fields.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { type FormValues, withRange } from './form-values.ts';
import { lorasQuery } from './loras-query.ts';
import type { Draft } from './use-draft.ts';

/** Its code comes apart: a visitor has no LoRA. */
const LoraCombobox = loadable(async () => (await import('./lora-combobox.tsx')).LoraCombobox);

type Props = {
  generator: Generator;
  draft: Pick<Draft, 'values'>;
  onChange: (changed: { values: FormValues }) => void;
  userId: string | undefined;
  /** A number with what was typed in its place, if that did not fit. */
  explain: (field: FormField<string>) => FormField<string>;
};

/** The person's own LoRAs, where whoever generates takes one and there is one to choose. */
export function LoraField({ generator, draft: { values }, onChange, userId, explain }: Props) {
  const field = generator.fields.find(({ kind }) => kind === 'lora');
  const enabled = field !== undefined && userId !== undefined;
  const { data, isPending, isError } = useInfiniteQuery({ ...lorasQuery(userId ?? ''), enabled });
  const chosen = field && values[field.name];
  if (!enabled || isPending) return null;
  // Where they could not be read, the field says so.
  if (!isError && data.pages[0]?.loras.length === 0 && !chosen) return null;
  const strength = generator.fields.flatMap((one): FormField<string>[] =>
    one.kind === 'number' && one.onlyWith === field.name && !isLeftOut(one, values)
      ? [explain({ ...one, help: withRange(one) })]
      : [],
  );
  const change = (changed: Partial<FormValues>) =>
    onChange({ values: { ...values, ...changed } as FormValues });
  const control = (
    <DeferredPart pending={<Skeleton className="h-9" />}>
      <LoraCombobox
        userId={userId}
        value={chosen ? String(chosen) : null}
        onChange={(id) => change({ [field.name]: id ?? '' })}
      />
    </DeferredPart>
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
