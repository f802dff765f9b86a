import { useState } from 'react'
import { t } from '../../text'
import { Input } from '../field'
import type { Place } from './parts'

/** useExamples are values for the places of a template: at first those that it gives as examples. */
export function useExamples(places: Place[]) {
  return useState<Record<string, string>>(() => Object.fromEntries(places.map((place) => [place.key, place.example])))
}

/** Values asks for what a template leaves open. */
export function Values({ places, values, change, required }: { places: Place[]; values: Record<string, string>; change: (next: Record<string, string>) => void; required?: boolean }) {
  return (
    <fieldset className="plain stack">
      <legend>{t('template.values')}</legend>
      {places.map((place) => (
        <Input key={place.key} label={labelOf(place)} hint={place.kind === 'location' ? t('template.locationHint') : undefined} dir="auto" value={values[place.key] ?? ''} onChange={(event) => change({ ...values, [place.key]: event.target.value })} required={required} />
      ))}
    </fieldset>
  )
}

function labelOf(place: Place): string {
  if (place.part === 'button') return place.kind === 'code' ? t('template.code') : t('template.button', { text: place.button ?? '' })
  if (place.kind !== 'text') return t(`template.${place.kind as 'image' | 'video' | 'document' | 'location'}`)
  return t(place.part === 'header' ? 'template.inHeader' : 'template.inText', { name: place.name })
}
