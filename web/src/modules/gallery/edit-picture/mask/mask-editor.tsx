import { useState } from 'react';
import { Button } from '../../../../ui/button.tsx';
import { Dialog } from '../../../../ui/dialog.tsx';
import { ErrorState } from '../../../../ui/error-state.tsx';
import { errorMessage, notify } from '../../../../ui/notify.ts';
import type { Source } from '../source.ts';
import { MaskCanvas } from './mask-canvas.tsx';
import { maskFile, type Shape, type Size, type Tool } from './mask-shapes.ts';
import { MaskTools } from './mask-tools.tsx';

type Props = {
  source: Source;
  /** The mask to start with. */
  mask: ImageBitmap | null;
  onDone: (mask: File) => void;
  onClose: () => void;
};

/** A dialog that paints the area of a picture to change. */
export function MaskEditor({ source, mask, onDone, onClose }: Props) {
  const [begun] = useState<Shape[]>(() => (mask ? [{ kind: 'mask', image: mask }] : []));
  const [shapes, setShapes] = useState(begun);
  /** Null until the picture is loaded. */
  const [size, setSize] = useState<Size | null>(null);
  const [isBroken, setBroken] = useState(false);
  const [tool, setTool] = useState<Tool>({ erases: false, thickness: 1, feather: 0 });
  const [share, setShare] = useState(0);
  const changeTool = (changed: Partial<Tool>) => setTool((current) => ({ ...current, ...changed }));

  function start(loaded: Size) {
    setSize(loaded);
    changeTool({ thickness: Math.max(1, Math.round(Math.min(loaded.width, loaded.height) / 8)) });
  }

  async function finish(painted: Size) {
    try {
      onDone(await maskFile(shapes, { size: painted, feather: tool.feather }));
    } catch (error) {
      notify.failure('The area could not be saved', { description: errorMessage(error) });
    }
  }

  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" disabled={share === 0} onClick={() => size && void finish(size)}>
        Use this area
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="lg"
      title="Paint the area to change"
      description="Pixels outside the area are not changed."
      dirty={shapes !== begun}
      footer={footer}
    >
      {isBroken ? (
        <ErrorState
          title="The picture could not be loaded"
          error="Check your connection, or choose another picture."
          onRetry={() => setBroken(false)}
        />
      ) : (
        <div className="grid gap-4">
          <MaskCanvas
            {...{ source, size, shapes, tool, share, setShapes }}
            onLoad={start}
            onError={() => setBroken(true)}
            onShare={setShare}
          />
          {size && <MaskTools {...{ tool, size, shapes, setShapes }} onChange={changeTool} />}
        </div>
      )}
    </Dialog>
  );
}
