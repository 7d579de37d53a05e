import type { Configuration } from '@bakehouse/contract/configurations';
import { CONFIGURATION_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { Download, Pencil, Trash2, Upload } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { saveAs } from '../../../lib/api/download.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Field } from '../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../ui/focus.ts';
import { Input } from '../../../ui/input.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { nameProblem } from '../../../ui/text-problems.ts';
import {
  type FileFormat,
  useApplicableConfiguration,
  useConfigurations,
  useDeleteConfiguration,
  useImportConfiguration,
  useRenameConfiguration,
  writeConfigurationFile,
} from './configuration-calls.ts';
import { describeConfiguration } from './describe-configuration.ts';

type Props = { onClose: () => void; onApply: (payload: Configuration['fine_tune_payload']) => void };

/** Configuration Templates dialog: select a saved configuration and apply it. */
export function ConfigurationDialog({ onClose, onApply }: Props) {
  const configurations = useConfigurations();
  const check = useApplicableConfiguration();
  const [chosen, setChosen] = useState<string | null>(null);
  const list = configurations.data?.configurations ?? [];
  const selected = list.find((one) => one.config_id === chosen);
  const apply = ({ fine_tune_payload }: Configuration) =>
    check.mutate(fine_tune_payload, { onSuccess: () => onApply(fine_tune_payload) });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Configuration Templates"
      description="Applying a configuration fills in the fields it contains."
      footer={
        <>
          <ImportButton onImported={setChosen} />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            disabled={!selected}
            loading={check.isPending}
            onClick={() => selected && apply(selected)}
          >
            Apply
          </Button>
        </>
      }
    >
      <QueryView
        query={configurations}
        failed="Your configurations could not be loaded"
        pending={
          <LoadingRegion className="flex flex-col gap-2">
            <Skeleton className="h-16 w-full" />
            <Skeleton className="h-16 w-full" />
          </LoadingRegion>
        }
        isEmpty={() => list.length === 0}
        empty={
          <EmptyState
            title="No configurations yet"
            description="Save the parameters of a fine-tune, or import a file."
          />
        }
      >
        {() => (
          <>
            <RadioCards
              aria-label="Configurations"
              value={chosen}
              onChange={setChosen}
              options={list.map((one) => ({
                value: one.config_id,
                label: <span className="[overflow-wrap:anywhere]">{one.config_name}</span>,
                description: (
                  <>
                    {describeConfiguration(one)}saved <RelativeTime at={one.created_at} inSentence />
                  </>
                ),
              }))}
            />
            {selected && <ConfigurationActions key={selected.config_id} configuration={selected} />}
          </>
        )}
      </QueryView>
    </Dialog>
  );
}

/** Imports a YAML or JSON file. */
function ImportButton({ onImported }: { onImported: (id: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const importing = useImportConfiguration();
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Configuration file"
        accept=".yaml,.yml,.json"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // Allow choosing the same file again after fixing it.
          target.value = '';
          if (file) importing.mutate(file, { onSuccess: ({ config_id }) => onImported(config_id) });
        }}
      />
      <Button
        variant="ghost"
        className="mr-auto"
        loading={importing.isPending}
        onClick={() => input.current?.click()}
      >
        <Upload aria-hidden />
        Import
      </Button>
    </>
  );
}

/** Rename, export and delete actions for the selected configuration. */
export function ConfigurationActions({ configuration }: { configuration: Configuration }) {
  const [asking, setAsking] = useState<'rename' | 'delete' | null>(null);
  const deletion = useDeleteConfiguration();
  const { config_id: id, config_name: name } = configuration;
  if (asking === 'rename') return <RenameForm {...{ id, name }} onClose={() => setAsking(null)} />;
  return (
    <div className="mt-3 flex flex-wrap gap-1">
      <Button variant="ghost" size="sm" onClick={() => setAsking('rename')}>
        <Pencil aria-hidden />
        Rename
      </Button>
      <Menu
        align="start"
        trigger={
          <Button variant="ghost" size="sm">
            <Download aria-hidden />
            Export
          </Button>
        }
      >
        <MenuItem onSelect={() => void save(configuration, 'yaml')}>YAML</MenuItem>
        <MenuItem onSelect={() => void save(configuration, 'json')}>JSON</MenuItem>
      </Menu>
      <Button variant="ghost" size="sm" onClick={() => setAsking('delete')}>
        <Trash2 aria-hidden />
        Delete
      </Button>
      <ConfirmDialog
        open={asking === 'delete'}
        onOpenChange={() => setAsking(null)}
        title={`Delete ${name}?`}
        description="Models made with it are not affected."
        action="Delete"
        pending={deletion.isPending}
        onConfirm={() => deletion.mutate(id, { onSettled: () => setAsking(null) })}
      />
    </div>
  );
}

async function save(configuration: Configuration, format: FileFormat): Promise<void> {
  const text = await writeConfigurationFile(configuration, format);
  const type = format === 'json' ? 'application/json' : 'application/yaml';
  saveAs(new Blob([text], { type }), `${configuration.config_name}.${format}`);
}

function RenameForm({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const [typed, setTyped] = useState(name);
  const rename = useRenameConfiguration();
  const problem = nameProblem(typed, CONFIGURATION_NAME_LENGTH_MAX);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // The dialog is inside the wizard's React tree: don't submit the wizard's form.
    event.stopPropagation();
    focusFirstInvalid(event.currentTarget);
    if (!problem && !rename.isPending) rename.mutate({ id, name: typed.trim() }, { onSuccess: onClose });
  }
  return (
    <form onSubmit={submit} noValidate className="mt-3 flex items-start gap-2">
      <Field
        label="New name"
        className="flex-1"
        error={problem ?? (rename.error ? errorMessage(rename.error) : undefined)}
      >
        <Input
          // biome-ignore lint/a11y/noAutofocus: the field takes the place of the button that was pressed
          autoFocus
          value={typed}
          autoComplete="off"
          onChange={(event) => {
            setTyped(event.target.value);
            rename.reset();
          }}
        />
      </Field>
      <div className="mt-6 flex gap-1">
        <Button type="submit" variant="primary" loading={rename.isPending}>
          Rename
        </Button>
        <Button variant="ghost" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
