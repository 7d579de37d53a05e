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
import { Textarea } from '../../../ui/textarea.tsx';
import { useFormValues } from '../../../ui/use-form-values.ts';
import { useUser } from '../../accounts/api.ts';
import { AssetField } from '../choice/api.ts';
import { type ModelValues, useSaveRestrictedModel } from './queries.ts';

const FORM_ID = 'restricted-model';

/** Enters a restricted model, or changes one. */
export function RestrictedModelDialog({ model, onClose }: { model?: RestrictedModel; onClose: () => void }) {
  const { values, setValues, isChanged } = useFormValues(() => toValues(model));
  const [tried, setTried] = useState(false);
  const save = useSaveRestrictedModel();
  const refusal = save.error;
  const idProblem =
    values.id.trim() === ''
      ? 'Id is required'
      : refusal instanceof ApiError && refusal.param === 'modelId'
        ? refusal.message
        : undefined;
  const nameProblem = values.name.trim() === '' ? 'Name is required' : undefined;
  const filesId = values.asset_id === undefined ? (model?.dataset_id ?? null) : values.asset_id;
  const change = (changed: Partial<ModelValues>) => setValues({ ...values, ...changed });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setTried(true));
    if (values.id.trim() === '' || nameProblem || save.isPending) return;
    save.mutate({ ...values, id: values.id.trim() }, { onSuccess: onClose });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={model ? `Edit ${model.name}` : 'Add a restricted model'}
      dirty={isChanged && !save.isPending}
      description="Everyone can find it; you decide who may use it."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM_ID} loading={save.isPending}>
            {model ? 'Save' : 'Add'}
          </Button>
        </>
      }
    >
      <form id={FORM_ID} onSubmit={submit} noValidate className="flex flex-col gap-4">
        {refusal && !idProblem && <Refusal title="The model was not saved" error={refusal} />}
        {!model && (
          <Field label="Id" help="As people know it: owner/name" error={tried ? idProblem : undefined}>
            <Input
              value={values.id}
              maxLength={200}
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => change({ id: event.target.value })}
            />
          </Field>
        )}
        <Fields
          values={values}
          change={change}
          nameProblem={tried ? nameProblem : undefined}
          filesId={filesId}
        />
      </form>
    </Dialog>
  );
}

function toValues(model: RestrictedModel | undefined): ModelValues {
  const { id = '', name = '', family = '', tags = [], details = '' } = model ?? {};
  return { id, name, family, tags, details };
}

type FieldsProps = {
  values: ModelValues;
  change: (changed: Partial<ModelValues>) => void;
  nameProblem: string | undefined;
  /** The model that has the files. */
  filesId: string | null;
};

/** All of it but the id, which names it for ever. */
function Fields({ values, change, nameProblem, filesId }: FieldsProps) {
  const user = useUser();
  return (
    <>
      <Field label="Name" error={nameProblem}>
        <Input
          value={values.name}
          maxLength={200}
          onChange={(event) => change({ name: event.target.value })}
        />
      </Field>
      <Field label="Family" aside="Optional" help="The kind of model, such as llama or qwen">
        <Input
          value={values.family}
          maxLength={50}
          onChange={(event) => change({ family: event.target.value })}
        />
      </Field>
      <Field label="Tags" aside="Optional">
        <TagInput tags={values.tags} onChange={(tags) => change({ tags })} />
      </Field>
      <Field label="Description" aside="Optional" help="You can use Markdown.">
        <Textarea
          value={values.details}
          rows={3}
          maxLength={10_000}
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
