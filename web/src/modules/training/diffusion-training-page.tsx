import { ImagePlus } from 'lucide-react';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Says that image models are not trained here yet, and what can be done until they are. */
export function DiffusionTrainingPage() {
  return (
    <>
      <PageHeader title="Diffusion Training" />
      <Card>
        <EmptyState
          icon={<ImagePlus aria-hidden />}
          title="Training image models is not available yet"
          description="Until it is, you can collect pictures from your gallery in a dataset, train a model elsewhere, and upload it here to deploy it."
          action={
            <>
              <ButtonLink to="/gallery">Open the gallery</ButtonLink>
              <ButtonLink to="/my-deployments/images">Deploy an image model</ButtonLink>
            </>
          }
        />
      </Card>
    </>
  );
}
