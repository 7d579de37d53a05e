import { RotateCcw, TriangleAlert } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { Progress } from '../../../ui/progress.tsx';
import { Frame } from '../view/frame.tsx';
import type { Source } from './source.ts';
import { SourceImage } from './source-image.tsx';

type Props = {
  source: Source;
  /** Upload progress, 0 to 100. */
  uploaded: number | null;
  /** Why it did not start. */
  error: Error | null;
  /** Id of the form that submits it. */
  form: string;
  onStartOver: () => void;
};

/** An edit that has not started on the server: its picture is uploading, or the upload failed. */
export function EditStart({ source, uploaded, error, form, onStartOver }: Props) {
  return (
    <section aria-label="Results" className="min-w-0">
      <Frame>
        <SourceImage source={source} className="mx-auto h-80 max-w-full object-contain opacity-50" />
        <div className="border-line border-t bg-surface px-4 py-3.5">
          {error ? (
            <div role="alert" className="grid gap-3">
              <div>
                <p className="flex items-center gap-2 font-medium">
                  <TriangleAlert aria-hidden className="size-4 text-bad" />
                  The picture could not be edited
                </p>
                <p className="mt-1 text-compact text-muted [overflow-wrap:anywhere]">{errorMessage(error)}</p>
              </div>
              <div className="flex flex-wrap gap-2">
                <Button type="submit" form={form} size="sm">
                  <RotateCcw aria-hidden />
                  Try again
                </Button>
                <Button variant="ghost" size="sm" onClick={onStartOver}>
                  Start over
                </Button>
              </div>
            </div>
          ) : (
            <Progress
              value={uploaded}
              label={uploaded === null ? 'Starting the edit' : 'Uploading the picture'}
            />
          )}
        </div>
      </Frame>
    </section>
  );
}
