import { DETAILS_LENGTH_MAX, FAMILY_LENGTH_MAX, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { ApiError } from '../../../lib/api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { FormRejection } from '../../../ui/form-rejection.tsx';
import { Input } from '../../../ui/input.tsx';
import { TagInput } from '../../../ui/tag-input.tsx';
import { tagsProblem } from '../../../ui/tags-problem.ts';
import { lengthProblem, nameProblem } from '../../../ui/text-problem.ts';
import { Textarea } from '../../../ui/textarea.tsx';
import { type Problems, useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { AssetField } from '../../datasets/choice/asset-field.tsx';
import { useSaveRestrictedModel } from './restricted-model-calls.ts';

const FORM_ID = 'restricted-model';

type ModelValues = {
  id: string;
  name: string;
  family: string;
  tags: string[];
  details: string;
  /** Undefined leaves it unchanged. */
  asset_id?: string | null;
};

/** Creates or edits a restricted model. */
export function RestrictedModelDialog({ model, onClose }: { model?: RestrictedModel; onClose: () => void }) {
  const save = useSaveRestrictedModel();
  const refusal = save.error;
  const refusedId = refusal instanceof ApiError && refusal.param === 'modelId' ? refusal.message : undefined;
  const { values, problems, changes, isDirty, change, onSubmit } = useForm({
    initial: () => toValues(model),
    problemsOf,
    onSubmit: ({ id, ...all }) => {
      if (save.isPending) return;
      if (model && !isDirty) return onClose();
      save.mutate({ id: id.trim(), body: model ? changes : all }, { onSuccess: onClose });
    },
  });
  const filesId = values.asset_id === undefined ? (model?.dataset_id ?? null) : values.asset_id;

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !save.isPending && onClose()}
      title={model ? `Edit ${model.name}` : 'Add a restricted model'}
      dirty={isDirty && !save.isPending}
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
      <form id={FORM_ID} onSubmit={onSubmit} noValidate className="flex flex-col gap-4">
        {refusal && !refusedId && <FormRejection title="The model was not saved" error={refusal} />}
        {!model && (
          <Field label="ID" help="Its public name: owner/name" error={problems.id ?? refusedId}>
            <Input
              value={values.id}
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => change({ id: event.target.value })}
            />
          </Field>
        )}
        <Fields values={values} change={change} errors={problems} filesId={filesId} />
      </form>
    </Dialog>
  );
}

function toValues(model: RestrictedModel | undefined): ModelValues {
  const { id = '', name = '', family = '', tags = [], details = '' } = model ?? {};
  return { id, name, family, tags, details };
}

function problemsOf({ id, name, family, details, tags }: ModelValues): Problems<ModelValues> {
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
  errors: Problems<ModelValues>;
  /** The model that contains the files. */
  filesId: string | null;
};

/** All fields except the id, which can't be changed. */
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
