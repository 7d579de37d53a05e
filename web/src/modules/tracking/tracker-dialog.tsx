import {
  TRACKER_PROJECT_LENGTH_MAX,
  type Tracker,
  type TrackerService,
  trackerLabels,
} from '@bakehouse/contract/trackers';
import { ApiError } from '../../lib/api/api-error.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { errorMessage, notify } from '../../ui/notify.ts';
import { requiredProblem } from '../../ui/text-problem.ts';
import { useForm } from '../../ui/use-form.ts';
import { useSaveTracker } from './tracking-calls.ts';

const FORM_ID = 'tracker';

const words = {
  wandb: {
    description: 'From your settings at wandb.ai. The key is stored encrypted and never shown again.',
    project: 'Project',
    key: 'API key',
    keyHelp: undefined,
  },
  mlflow: {
    description: 'Your team’s tracking server. The token is stored encrypted and never shown again.',
    project: 'Experiment',
    key: 'Token',
    keyHelp: 'A token, or user:password. Leave it empty if the server requires none.',
  },
} as const;

type Values = { project: string; url: string; apiKey: string };
type Props = { service: TrackerService; tracker: Tracker | null; onClose: () => void };

/** Connects or edits a tracker. */
export function TrackerDialog({ service, tracker, onClose }: Props) {
  const save = useSaveTracker(service);
  const text = words[service];
  const needsKey = service === 'wandb' && tracker === null;
  const { values, problems, change, isDirty, onSubmit, refuse } = useForm<Values>({
    initial: () => ({ project: tracker?.project ?? 'bakehouse', url: tracker?.url ?? '', apiKey: '' }),
    problemsOf: ({ project, url, apiKey }) => ({
      project: requiredProblem(text.project, project, TRACKER_PROJECT_LENGTH_MAX),
      url: service === 'mlflow' ? urlProblem(url) : undefined,
      apiKey: needsKey && apiKey.trim() === '' ? 'API key is required' : undefined,
    }),
    onSubmit: ({ project, url, apiKey }) =>
      save.mutate(
        {
          project: project.trim(),
          ...(service === 'mlflow' && { url: url.trim() }),
          ...(apiKey.trim() !== '' && { api_key: apiKey.trim() }),
        },
        {
          onSuccess: () => {
            notify.success(`${trackerLabels[service]} is connected`);
            onClose();
          },
          onError: (error) => refuse({ [fieldOf(error, service)]: errorMessage(error) }),
        },
      ),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      dirty={isDirty && !save.isPending}
      title={trackerLabels[service]}
      description={text.description}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={FORM_ID} variant="primary" loading={save.isPending}>
            {tracker ? 'Save' : 'Connect'}
          </Button>
        </>
      }
    >
      <form id={FORM_ID} noValidate onSubmit={onSubmit} className="grid gap-4">
        <Fields {...{ service, tracker, values, problems, change }} />
      </form>
    </Dialog>
  );
}

type FieldsProps = Omit<Props, 'onClose'> &
  Pick<ReturnType<typeof useForm<Values>>, 'values' | 'problems' | 'change'>;

function Fields({ service, tracker, values, problems, change }: FieldsProps) {
  const text = words[service];
  return (
    <>
      {service === 'mlflow' && (
        <Field label="Address" error={problems.url}>
          <Input
            type="url"
            value={values.url}
            spellCheck={false}
            placeholder="https://mlflow.example.com"
            onChange={({ target }) => change({ url: target.value })}
          />
        </Field>
      )}
      <Field label={text.project} error={problems.project}>
        <Input value={values.project} onChange={({ target }) => change({ project: target.value })} />
      </Field>
      <Field
        label={text.key}
        help={tracker ? 'Leave it empty to keep the saved one.' : text.keyHelp}
        error={problems.apiKey}
      >
        <Input
          type="password"
          value={values.apiKey}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => change({ apiKey: target.value })}
        />
      </Field>
    </>
  );
}

function urlProblem(url: string): string | undefined {
  if (url.trim() === '') return 'Address is required';
  return /^https?:\/\/[^/]/.test(url.trim()) && URL.canParse(url.trim())
    ? undefined
    : 'Enter an address such as https://mlflow.example.com';
}

/** Returns the field that the server rejected; by default, the one that determines the connection. */
function fieldOf(error: unknown, service: TrackerService): 'project' | 'url' | 'apiKey' {
  const param = error instanceof ApiError ? error.param : null;
  if (param === 'project' || param === 'url') return param;
  if (param === 'api_key') return 'apiKey';
  return service === 'mlflow' ? 'url' : 'apiKey';
}
