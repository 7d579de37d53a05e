import type { Asset } from '@bakehouse/contract/assets';
import { DETAILS_LENGTH_MAX, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { TagInput } from '../../ui/tag-input.tsx';
import { tagsProblem } from '../../ui/tags-problem.ts';
import { lengthProblem, nameProblem } from '../../ui/text-problem.ts';
import { Textarea } from '../../ui/textarea.tsx';
import { useForm } from '../../ui/use-form.ts';
import { useUpdateAsset } from './asset-calls.ts';

const FORM_ID = 'edit-asset';

/** Edits name, description and tags of a dataset or model. */
export function EditAssetDialog({ asset, onClose }: { asset: Asset; onClose: () => void }) {
  const update = useUpdateAsset(asset.dataset_id);
  const { values, problems, changes, isDirty, change, onSubmit } = useForm({
    initial: () => ({ title: asset.title, details: asset.details, tags: asset.tags }),
    problemsOf: ({ title, details, tags }) => ({
      title: nameProblem(title, NAME_LENGTH_MAX),
      details: lengthProblem('Description', details, DETAILS_LENGTH_MAX),
      tags: tagsProblem(tags),
    }),
    onSubmit: () => {
      if (update.isPending) return;
      if (!isDirty) return onClose();
      update.mutate(changes, { onSuccess: onClose });
    },
  });

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !update.isPending && onClose()}
      title="Edit"
      dirty={isDirty && !update.isPending}
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
      <form id={FORM_ID} onSubmit={onSubmit} noValidate className="flex flex-col gap-4">
        <Field label="Name" error={problems.title}>
          <Input value={values.title} onChange={(event) => change({ title: event.target.value })} />
        </Field>
        <Field label="Description" aside="Optional" help="You can use Markdown." error={problems.details}>
          <Textarea
            value={values.details}
            rows={4}
            onChange={(event) => change({ details: event.target.value })}
          />
        </Field>
        <Field label="Tags" aside="Optional" error={problems.tags}>
          <TagInput tags={values.tags} onChange={(tags) => change({ tags })} />
        </Field>
      </form>
    </Dialog>
  );
}
