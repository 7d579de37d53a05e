import type { Asset } from '@bakehouse/contract/assets';
import { DETAILS_LENGTH_MAX, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { focusFirstInvalid } from '../../ui/focus-first-invalid.ts';
import { Input } from '../../ui/input.tsx';
import { TagInput } from '../../ui/tag-input.tsx';
import { lengthProblem, nameProblem, tagsProblem } from '../../ui/text-problem.ts';
import { Textarea } from '../../ui/textarea.tsx';
import { useFormValues } from '../../ui/use-form-values.ts';
import { useUpdateAsset } from './asset-calls.ts';

const FORM_ID = 'edit-asset';

/** Name, description and tags of a dataset or model. */
export function EditAssetDialog({ asset, onClose }: { asset: Asset; onClose: () => void }) {
  const { values, setValues, changes, isChanged } = useFormValues(() => {
    const { title, details, tags } = asset;
    return { title, details, tags };
  });
  const [tried, setTried] = useState(false);
  const update = useUpdateAsset(asset.dataset_id);
  const problems = {
    title: nameProblem(values.title, NAME_LENGTH_MAX),
    details: lengthProblem('Description', values.details, DETAILS_LENGTH_MAX),
    tags: tagsProblem(values.tags),
  };
  const errors: Partial<typeof problems> = tried ? problems : {};

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setTried(true));
    if (Object.values(problems).some(Boolean) || update.isPending) return;
    if (!isChanged) return onClose();
    update.mutate(changes, { onSuccess: onClose });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !update.isPending && onClose()}
      title="Edit"
      dirty={isChanged && !update.isPending}
      footer={
        <>
          <Button onClick={onClose} disabled={update.isPending}>
            Cancel
          </Button>
          <Button variant="primary" type="submit" form={FORM_ID} loading={update.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form id={FORM_ID} onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field label="Name" error={errors.title}>
          <Input
            value={values.title}
            onChange={(event) => setValues({ ...values, title: event.target.value })}
          />
        </Field>
        <Field label="Description" aside="Optional" help="You can use Markdown." error={errors.details}>
          <Textarea
            value={values.details}
            rows={4}
            onChange={(event) => setValues({ ...values, details: event.target.value })}
          />
        </Field>
        <Field label="Tags" aside="Optional" error={errors.tags}>
          <TagInput tags={values.tags} onChange={(tags) => setValues({ ...values, tags })} />
        </Field>
      </form>
    </Dialog>
  );
}
