import type { Configuration } from '@bakehouse/contract/configurations';
import { Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { ConfigurationActions } from './configuration-actions.tsx';
import {
  useApplicableConfiguration,
  useConfigurations,
  useImportConfiguration,
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
      description="Applying a template fills in the fields it contains."
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
        failed="Your templates could not be loaded"
        pending={
          <LoadingRegion className="flex flex-col gap-2">
            <Skeleton className="h-16 w-full" />
            <Skeleton className="h-16 w-full" />
          </LoadingRegion>
        }
        isEmpty={() => list.length === 0}
        empty={
          <EmptyState
            title="No templates yet"
            description="Save the parameters of a fine-tune, or import a file."
          />
        }
      >
        {() => (
          <>
            <RadioCards
              aria-label="Templates"
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
        aria-label="Template file"
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
