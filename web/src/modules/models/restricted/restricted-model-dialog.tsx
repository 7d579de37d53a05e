import { DETAILS_LENGTH_MAX, FAMILY_LENGTH_MAX, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Input } from '../../../ui/input.tsx';
import { Refusal } from '../../../ui/refusal.tsx';
import { TagInput } from '../../../ui/tag-input.tsx';
import { lengthProblem, nameProblem, tagsProblem } from '../../../ui/text-problem.ts';
import { Textarea } from '../../../ui/textarea.tsx';
import { useFormValues } from '../../../ui/use-form-values.ts';
import { useUser } from '../../accounts/session.ts';
import { AssetField } from '../../assets/choice/asset-field.tsx';
import { useSaveRestrictedModel } from './restricted-model-calls.ts';

const FORM_ID = 'restricted-model';

type ModelValues = {
  id: string;
  name: string;
  family: string;
  tags: string[];
  details: string;
  /** Undefined: what is there stays. */
  asset_id?: string | null;
};

/** Enters a restricted model, or changes one. */
export function RestrictedModelDialog({ model, onClose }: { model?: RestrictedModel; onClose: () => void }) {
  const { values, setValues, changes, isChanged } = useFormValues(() => toValues(model));
  const [tried, setTried] = useState(false);
  const save = useSaveRestrictedModel();
  const refusal = save.error;
  const refusedId = refusal instanceof ApiError && refusal.param === 'modelId' ? refusal.message : undefined;
  const problems = problemsOf(values);
  const errors: Problems = tried ? { ...problems, id: problems.id ?? refusedId } : {};
  const filesId = values.asset_id === undefined ? (model?.dataset_id ?? null) : values.asset_id;
  const change = (changed: Partial<ModelValues>) => setValues({ ...values, ...changed });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setTried(true));
    if (Object.values(problems).some(Boolean) || save.isPending) return;
    if (model && !isChanged) return onClose();
    const { id, ...all } = values;
    save.mutate({ id: id.trim(), body: model ? changes : all }, { onSuccess: onClose });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !save.isPending && onClose()}
      title={model ? `Edit ${model.name}` : 'Add a restricted model'}
      dirty={isChanged && !save.isPending}
      description="Everyone can find it; you decide who may use it."
      footer={
        <>
          <Button onClick={onClose} disabled={save.isPending}>
            Cancel
          </Button>
          <Button variant="primary" type="submit" form={FORM_ID} loading={save.isPending}>
            {model ? 'Save' : 'Add'}
          </Button>
        </>
      }
    >
      <form id={FORM_ID} onSubmit={submit} noValidate className="flex flex-col gap-4">
        {refusal && !refusedId && <Refusal title="The model was not saved" error={refusal} />}
        {!model && (
          <Field label="ID" help="As people know it: owner/name" error={errors.id}>
            <Input
              value={values.id}
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => change({ id: event.target.value })}
            />
          </Field>
        )}
        <Fields values={values} change={change} errors={errors} filesId={filesId} />
      </form>
    </Dialog>
  );
}

function toValues(model: RestrictedModel | undefined): ModelValues {
  const { id = '', name = '', family = '', tags = [], details = '' } = model ?? {};
  return { id, name, family, tags, details };
}

type Problems = Partial<Record<keyof ModelValues, string | undefined>>;

function problemsOf({ id, name, family, details, tags }: ModelValues): Problems {
  return {
    id: id.trim() === '' ? 'ID is required' : undefined,
    name: nameProblem(name, NAME_LENGTH_MAX),
    family: lengthProblem('Family', family, FAMILY_LENGTH_MAX),
    details: lengthProblem('Description', details, DETAILS_LENGTH_MAX),
    tags: tagsProblem(tags),
  };
}

type FieldsProps = {
  values: ModelValues;
  change: (changed: Partial<ModelValues>) => void;
  errors: Problems;
  /** The model that has the files. */
  filesId: string | null;
};

/** All of it but the id, which names it for ever. */
function Fields({ values, change, errors, filesId }: FieldsProps) {
  const user = useUser();
  return (
    <>
      <Field label="Name" error={errors.name}>
        <Input value={values.name} onChange={(event) => change({ name: event.target.value })} />
      </Field>
      <Field
        label="Family"
        aside="Optional"
        help="The kind of model, such as llama or qwen"
        error={errors.family}
      >
        <Input value={values.family} onChange={(event) => change({ family: event.target.value })} />
      </Field>
      <Field label="Tags" aside="Optional" error={errors.tags}>
        <TagInput tags={values.tags} onChange={(tags) => change({ tags })} />
      </Field>
      <Field label="Description" aside="Optional" help="You can use Markdown." error={errors.details}>
        <Textarea
          value={values.details}
          rows={3}
          onChange={(event) => change({ details: event.target.value })}
        />
      </Field>
      <AssetField
        types="MODEL"
        label="Files"
        aside="Optional"
        help="One of your models. Everyone with access can download, deploy and fine-tune it."
        failed="Your models could not be loaded"
        fits={(asset) => asset.user_id === user.id}
        value={filesId}
        onChange={(asset_id) => change({ asset_id })}
      />
    </>
  );
}
