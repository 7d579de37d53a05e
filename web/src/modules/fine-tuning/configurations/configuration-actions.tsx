import type { Configuration } from '@bakehouse/contract/configurations';
import { CONFIGURATION_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { Download, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { saveAs } from '../../../lib/api/download.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { nameProblem } from '../../../ui/text-problem.ts';
import { useForm } from '../../../ui/use-form.ts';
import { useDeleteConfiguration, useRenameConfiguration } from './configuration-calls.ts';
import { type FileFormat, writeConfigurationFile } from './configuration-file.ts';

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
  const rename = useRenameConfiguration();
  const { values, problems, change, onSubmit, refuse } = useForm({
    initial: () => ({ name }),
    problemsOf: (typed) => ({ name: nameProblem(typed.name, CONFIGURATION_NAME_LENGTH_MAX) }),
    onSubmit: (typed) =>
      !rename.isPending &&
      rename.mutate(
        { id, name: typed.name.trim() },
        { onSuccess: onClose, onError: (error) => refuse({ name: errorMessage(error) }) },
      ),
  });
  return (
    <form
      onSubmit={(event) => {
        // The dialog is inside the wizard's React tree: don't submit the wizard's form.
        event.stopPropagation();
        onSubmit(event);
      }}
      noValidate
      className="mt-3 flex items-start gap-2"
    >
      <Field label="New name" className="flex-1" error={problems.name}>
        <Input
          // biome-ignore lint/a11y/noAutofocus: the field takes the place of the button that was pressed
          autoFocus
          value={values.name}
          autoComplete="off"
          onChange={(event) => change({ name: event.target.value })}
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
