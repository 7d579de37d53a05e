import { clampNumber } from '@bakehouse/contract/fields/number-field';
import type { Generation } from '@bakehouse/contract/generations';
import { makesVideos } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { paris } from '@bakehouse/contract/generators/paris';
import { generators } from '@bakehouse/contract/generators/table';
import { Clapperboard, Copy, Download, ImageUp, Shuffle, Sparkles, Sprout, Trash2 } from 'lucide-react';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { copyText } from '../../../lib/device/copy-text.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Menu, MenuLink } from '../../../ui/menu.tsx';
import { notify } from '../../../ui/notify.ts';
import { NumberField } from '../../../ui/number-field.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { useUser } from '../../accounts/session.ts';
import {
  useDeleteGeneration,
  useDeleteVideo,
  useDownloadVideo,
  useQuote,
  useStartGeneration,
} from '../generation-calls.ts';
import { useRecentGenerations } from '../generation-queries.ts';
import { alreadyGeneratingMessage, isUnderWay } from '../generation-sentences.ts';
import { Price } from '../view/generation-figures.tsx';
import { downloadPicture } from './pictures.ts';
import { remixOf, remixParts } from './remix.ts';
import { type Strategy, withOtherExperts } from './with-other-experts.ts';

const strategies = [
  {
    value: 'top1',
    label: 'The best one',
    description: 'At each step, only the expert that the router ranks highest.',
  },
  { value: 'topk', label: 'The best few', description: 'Several experts, combined by weight.' },
  { value: 'full', label: 'All eight', description: 'Every expert at every step. The slowest choice.' },
] as const;

const howMany = paris.fields.find((field) => field.kind === 'number' && field.name === 'k');

/** Default number of experts. */
const COUNT = 2;

const remixIcons = {
  all: <Sparkles aria-hidden />,
  prompt: <Copy aria-hidden />,
  seed: <Sprout aria-hidden />,
};

const videoDeletion = {
  title: 'Delete this video?',
  description: 'It will be permanently deleted.',
};

type Props = {
  generation: Generation;
  onDeleted: () => void;
  /** Called with another generation that was started, to be shown next to this one. */
  onRunAgain: (started: Generation) => void;
  /** More buttons of the containing page. */
  more?: ReactNode;
};

/** Actions on a finished generation. */
export function GenerationActions({ generation, onDeleted, onRunAgain, more }: Props) {
  const [asking, setAsking] = useState<'again' | 'delete' | null>(null);
  const close = () => setAsking(null);
  const generator = generators[generation.generator];
  const isEdit = editsPictures(generator);
  const isVideo = makesVideos(generation.generator);
  const picture = useMutation({
    mutationFn: () => (isEdit ? downloadEdit(generation) : downloadPicture(generation)),
  });
  const video = useDownloadVideo();
  const download = isVideo ? video : picture;
  const save = () => (isVideo ? video.mutate(generation) : picture.mutate());
  if (isUnderWay(generation)) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {generation.outputs.length === 1 && (
        <Button variant="primary" loading={download.isPending} onClick={save}>
          <Download aria-hidden />
          Download
        </Button>
      )}
      {generation.outputs.length === 1 && !isVideo && (
        <>
          <ButtonLink to="/flux-kontext" search={{ source: generation.id }}>
            <ImageUp aria-hidden />
            {isEdit ? 'Edit again' : 'Edit this picture'}
          </ButtonLink>
          <ButtonLink to="/wan" search={{ source: generation.id }}>
            <Clapperboard aria-hidden />
            Make a video
          </ButtonLink>
        </>
      )}
      {generator.hasExperts && (
        <Button onClick={() => setAsking('again')}>
          <Shuffle aria-hidden />
          Run again with…
        </Button>
      )}
      <RemixMenu generation={generation} />
      {more}
      <Button variant="ghost" size="icon" aria-label="Delete" onClick={() => setAsking('delete')}>
        <Trash2 aria-hidden />
      </Button>
      {asking === 'again' && (
        <RunAgainDialog
          generation={generation}
          onClose={close}
          onStarted={(started) => {
            close();
            onRunAgain(started);
          }}
        />
      )}
      <DeleteDialog
        generation={generation}
        open={asking === 'delete'}
        onClose={close}
        onDeleted={onDeleted}
      />
    </div>
  );
}

/** A menu that copies the generation into its generator's form. */
function RemixMenu({ generation }: { generation: Generation }) {
  const { generator } = generation;
  return (
    <Menu
      align="start"
      trigger={
        <Button>
          <Sparkles aria-hidden />
          Remix
        </Button>
      }
    >
      {remixParts
        .filter(({ value }) => value !== 'seed' || generation.seed !== null)
        .map(({ value, label }) => (
          <MenuLink
            key={value}
            to={`/${generator}`}
            search={remixOf(generation, value)}
            icon={remixIcons[value]}
          >
            {label}
          </MenuLink>
        ))}
    </Menu>
  );
}

type DeleteProps = { generation: Generation; open: boolean; onClose: () => void; onDeleted: () => void };

function DeleteDialog({ generation, open, onClose, onDeleted }: DeleteProps) {
  const isVideo = makesVideos(generation.generator);
  const [ofVideo, ofPicture] = [useDeleteVideo(), useDeleteGeneration()];
  const deletion = isVideo ? ofVideo : ofPicture;
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      {...(isVideo ? videoDeletion : deletionOf(generation.outputs.length))}
      action="Delete"
      pending={deletion.isPending}
      onConfirm={() =>
        deletion.mutate(generation, {
          onSuccess: () => {
            onClose();
            onDeleted();
          },
          onError: onClose,
        })
      }
    />
  );
}

/** Returns the texts that confirm deletion, by number of pictures. */
function deletionOf(pictures: number): { title: string; description: string } {
  if (pictures === 0)
    return {
      title: 'Delete this generation?',
      description: 'Its prompt and parameters will be permanently deleted.',
    };
  if (pictures === 1)
    return {
      title: 'Delete this picture?',
      description: 'The picture will be permanently deleted; edits of it keep a copy.',
    };
  return {
    title: `Delete these ${pictures} pictures?`,
    description: 'They were generated together and will be permanently deleted; edits of them keep a copy.',
  };
}

type RunAgainDialogProps = {
  generation: Generation;
  onClose: () => void;
  onStarted: (started: Generation) => void;
};

/** Repeats a generation with other experts of the same model, to compare the two pictures. */
function RunAgainDialog({ generation, onClose, onStarted }: RunAgainDialogProps) {
  const form = useId();
  const [strategy, setStrategy] = useState<Strategy>(
    generation.parameters.sampling_strategy === 'top1' ? 'topk' : 'top1',
  );
  const [k, setK] = useState<number | null>(COUNT);
  const [sameSeed, setSameSeed] = useState(true);
  const [refused, setRefused] = useState(false);
  const start = useStartGeneration();
  // Clamped like the form's field, which clamps on blur; the request never sends the raw number.
  const count = howMany?.kind === 'number' ? clampNumber(howMany, k ?? COUNT) : COUNT;
  const parameters = withOtherExperts(generation, { strategy, k: count, sameSeed });
  // The user's own deployment and the starter make different pictures.
  const asked = { generator: generation.generator, model: generation.model, parameters };
  const quote = useQuote(asked, true);
  const busy = useRecentGenerations(useUser().id).some(
    (one) => one.generator === generation.generator && isUnderWay(one),
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setK(count);
    setRefused(busy);
    if (busy || start.isPending) return;
    const { shownCost } = quote;
    start.mutate({ ...asked, prompt: generation.prompt, shownCost }, { onSuccess: onStarted });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Run again with other experts"
      description="Everything else stays the same, for comparison."
      footer={
        <>
          <Price quote={quote} className="mr-auto" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" loading={start.isPending}>
            Generate
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <RadioCards aria-label="Experts" value={strategy} onChange={setStrategy} options={strategies} />
        {strategy === 'topk' && (
          <div onBlur={() => setK(count)}>
            <Field label="Number of experts">
              <NumberField value={k} onChange={setK} min={1} max={8} />
            </Field>
          </div>
        )}
        <Checkbox checked={sameSeed} onChange={setSameSeed} label="Start from the same seed" />
        {refused && busy && <Callout tone="bad">{alreadyGeneratingMessage(generation.generator)}</Callout>}
      </form>
    </Dialog>
  );
}

/**
 * Downloads the picture. Falls back to opening it in a new tab, then to copying its address, then to an error
 * with the address.
 */
export async function downloadEdit(
  generation: Pick<Generation, 'id' | 'generator' | 'outputs'>,
): Promise<void> {
  const [output] = generation.outputs;
  try {
    await downloadPicture(generation);
  } catch (error) {
    if (!output?.url) throw error;
    const url = new URL(output.url, window.location.href).href;
    if (openInNewTab(url)) return;
    try {
      await copyText(url);
      notify.info('The picture could not be downloaded. Its link was copied.');
    } catch {
      throw new Error(`The picture could not be downloaded. It is at ${url}`, { cause: error });
    }
  }
}

/** Returns true if the browser allowed it. */
function openInNewTab(url: string): boolean {
  const tab = window.open(url, '_blank');
  if (!tab) return false;
  tab.opener = null;
  return true;
}
