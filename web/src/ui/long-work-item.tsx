import { Link } from '@tanstack/react-router';
import { ImageIcon, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import type { LongWork } from './long-work.ts';
import { Progress } from './progress.tsx';

/** A long-running task with its progress, or its error and available actions. */
export function LongWorkItem({ work }: { work: LongWork }) {
  const { title, picture, phase, progress, link, cancel, end } = work;
  return (
    <li className="flex items-center gap-2 border-line border-t py-3">
      {picture !== undefined && !end && <Picture url={picture} />}
      <div className="min-w-0 flex-1">
        {end ? (
          <>
            <p className="font-medium text-compact text-bad">{end.title}</p>
            {end.description && (
              <p className="mt-1 text-muted text-xs [overflow-wrap:anywhere]">{end.description}</p>
            )}
          </>
        ) : (
          <>
            {/* Outside the progress bar, whose content is hidden from assistive technology. */}
            <div className="mb-1.5 flex items-baseline justify-between gap-3 text-compact">
              <span className="min-w-0 truncate font-medium">
                {link ? (
                  <Link {...link} className="rounded hover:underline">
                    {title}
                  </Link>
                ) : (
                  title
                )}
              </span>
              <span className="shrink-0 text-muted tabular-nums">
                {progress === null ? '' : `${Math.floor(progress)}%`}
              </span>
            </div>
            <Progress value={progress} label={`Progress of ${title}`} aside="" hideLabel />
            <p className="mt-1.5 truncate text-muted text-xs">{phase}</p>
          </>
        )}
      </div>
      {cancel && !end && <CancelButton title={title} cancel={cancel} />}
    </li>
  );
}

function Picture({ url }: { url: string | null }) {
  return (
    <span aria-hidden className="relative mr-1 size-9 shrink-0 overflow-hidden rounded-md bg-subtle">
      {url === null ? (
        <ImageIcon className="absolute inset-0 m-auto size-4 text-faint" />
      ) : (
        <img src={url} alt="" decoding="async" className="size-full object-cover" />
      )}
    </span>
  );
}

type CancelProps = { title: string; cancel: NonNullable<LongWork['cancel']> };

function CancelButton({ title, cancel: { question, run } }: CancelProps) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        variant="ghost"
        size="icon-sm"
        aria-label={`Cancel ${title}`}
        onClick={question ? () => setAsking(true) : run}
      >
        <X aria-hidden />
      </Button>
      {question && (
        <ConfirmDialog
          open={asking}
          onOpenChange={setAsking}
          {...question}
          cancelLabel="Keep it"
          onConfirm={() => {
            setAsking(false);
            run();
          }}
        />
      )}
    </>
  );
}
