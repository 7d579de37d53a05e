import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../lib/count-of.ts';
import { relativeTime } from '../../lib/format-time.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useApplicableConfiguration, useConfigurations, useDeleteConfiguration } from './configurations.ts';
import type { Configuration } from './create-model-wizard-state.ts';

type Props = { onClose: () => void; onApply: (payload: Configuration['fine_tune_payload']) => void };

/** Configuration Templates: choose one of the saved ones and apply it. */
export function ConfigurationDialog({ onClose, onApply }: Props) {
  const configurations = useConfigurations();
  const check = useApplicableConfiguration();
  const deletion = useDeleteConfiguration();
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
      description="Applying one fills in the model, the dataset and every parameter."
      footer={
        <>
          {selected && (
            <Button
              variant="ghost"
              className="mr-auto"
              loading={deletion.isPending}
              onClick={() => deletion.mutate(selected.config_id, { onSuccess: () => setChosen(null) })}
            >
              <Trash2 aria-hidden />
              Delete
            </Button>
          )}
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
            title="No templates yet"
            description="Save the parameters of a fine-tune on its review step; they appear here."
          />
        }
      >
        {() => (
          <RadioCards
            aria-label="Configurations"
            value={chosen}
            onChange={setChosen}
            options={list.map((one) => ({
              value: one.config_id,
              label: one.config_name,
              description: describe(one),
            }))}
          />
        )}
      </QueryView>
    </Dialog>
  );
}

function describe({ fine_tune_payload: saved, created_at }: Configuration): string {
  const parts = [
    saved.epochs !== undefined && countOf(saved.epochs, 'epoch'),
    saved.learning_rate !== undefined && `learning rate ${saved.learning_rate}`,
    saved.lora_r !== undefined && `rank ${saved.lora_r}`,
    saved.file_name,
    `saved ${relativeTime(new Date(created_at)).toLowerCase()}`,
  ];
  return parts.filter(Boolean).join(' · ');
}
