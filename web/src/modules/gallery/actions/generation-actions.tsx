import type { Generation } from '@bakehouse/contract/generations';
import { makesVideos } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { Clapperboard, Copy, Download, ImageUp, Shuffle, Sparkles, Sprout, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Menu, MenuLink } from '../../../ui/menu.tsx';
import { useDeleteGeneration } from '../deletion-calls.ts';
import { isUnderWay } from '../generation-sentences.ts';
import { useDeleteVideo, useDownloadVideo } from '../video-calls.ts';
import { downloadEdit } from './download-edit.ts';
import { downloadPicture } from './download-picture.ts';
import { remixOf, remixParts } from './remix.ts';
import { RunAgainDialog } from './run-again-dialog.tsx';

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

const remixIcons = {
  all: <Sparkles aria-hidden />,
  prompt: <Copy aria-hidden />,
  seed: <Sprout aria-hidden />,
};

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

const videoDeletion = {
  title: 'Delete this video?',
  description: 'It will be permanently deleted.',
};

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
