import { type FormEvent, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Check, Input, Select, TextArea } from '../../ui/field'
import type { Reference } from '../../ui/reference-choice'
import { Button, Notice, PageHead } from '../../ui/parts'
import { TemplateBubble } from '../../ui/template/bubble'
import { variables } from '../../ui/template/parts'
import { Buttons } from './buttons'
import { at, blank, categories, componentsOf, type Draft, draftShown, headers, limits, nameOf, nextVariable } from './draft'
import { starters } from './starters'
import { categoryName } from './words'

const stored = (reference: number) => `trunkline.template.${reference}`

/** kept is the draft that was not handed in yet. */
export function kept(reference: number): Draft {
  try {
    return { ...blank, ...(JSON.parse(sessionStorage.getItem(stored(reference)) ?? '{}') as Partial<Draft>) }
  } catch {
    return blank
  }
}

/** languages are codes that the network takes; others can be typed. */
const languages = ['en', 'en_US', 'en_GB', 'pt_BR', 'pt_PT', 'es', 'es_AR', 'es_ES', 'es_MX', 'fr', 'de', 'it', 'nl', 'pl', 'tr', 'ar', 'he', 'hi', 'id', 'ja', 'ko', 'ru', 'uk', 'zh_CN']

/** Editor writes a template, which is shown beside it as the contact will see it. */
export function Editor({ reference, draft: begin, close }: { reference: Reference; draft: Draft; close: () => void }) {
  const [draft, setDraft] = useState(begin)
  const set = (part: Partial<Draft>) => {
    const next = { ...draft, ...part }
    setDraft(next)
    sessionStorage.setItem(stored(reference.id), JSON.stringify(next))
  }
  const act = useAct(
    (template: Draft) => {
      const { name, category, language, named } = template
      return got(api.POST('/templates', { body: { reference: reference.id, name, category, language, components: componentsOf(template), ...(named ? { parameterFormat: 'named' as const } : {}) } }))
    },
    {
      said: t('templates.handedIn'),
      quiet: true,
      then: async () => {
        sessionStorage.removeItem(stored(reference.id))
        await client.invalidateQueries({ queryKey: ['templates', reference.id] })
        close()
      },
    },
  )
  const sent = act.variables ?? draft
  const own = draft.category !== 'AUTHENTICATION'
  const place = (kind: Parameters<typeof at>[1]) => at(sent, kind)
  const shownBelow = /^body\.(name|language|category|components\[\d+\]\.(text|example|buttons.*)|components\[\d+\]\.example\.header_handle)$/
  const elsewhere = act.problem && (act.problem.errors.length ? act.problem.errors.find((error) => !shownBelow.test(error.location))?.message : act.problem.message)
  return (
    <div className="page">
      <PageHead title={t('templates.new')}>
        <Button icon="back" onClick={close}>
          {t('templates.back')}
        </Button>
      </PageHead>
      <div className="row" role="group" aria-label={t('templates.starters')}>
        <span className="mute">{t('templates.starters')}</span>
        {starters.map((starter) => (
          <Button key={starter.text} onClick={() => set(starter.draft)}>
            {t(starter.text)}
          </Button>
        ))}
      </div>
      <div className="template-two">
        <form
          className="stack"
          onSubmit={(event: FormEvent) => {
            event.preventDefault()
            act.mutate(draft)
          }}
        >
          {elsewhere && <Notice tone="bad">{elsewhere}</Notice>}
          <Input label={t('templates.name')} hint={t('templates.nameHint')} value={draft.name} onChange={(e) => set({ name: nameOf(e.target.value) })} wrong={act.wrong('name')} maxLength={limits.name} spellCheck={false} autoComplete="off" required />
          <div className="template-pair">
            <Select label={t('templates.category')} value={draft.category} onChange={(e) => set({ category: e.target.value as Draft['category'] })} options={categories.map((value) => ({ value, label: categoryName(value) }))} wrong={act.wrong('category')} />
            <Input label={t('templates.language')} list="template-languages" value={draft.language} onChange={(e) => set({ language: e.target.value })} wrong={act.wrong('language')} maxLength={35} spellCheck={false} required />
            <datalist id="template-languages">
              {languages.map((code) => (
                <option key={code} value={code} />
              ))}
            </datalist>
          </div>
          {own ? (
            <>
              <Head draft={draft} set={set} wrong={(member) => act.wrong(`${place('HEADER')}.${member}`)} />
              <Body draft={draft} set={set} wrong={(member) => act.wrong(`${place('BODY')}.${member}`)} />
              <Input label={t('templates.footer')} hint={t('templates.most', { n: draft.footer.length, most: limits.footer })} dir="auto" value={draft.footer} onChange={(e) => set({ footer: e.target.value })} wrong={act.wrong(`${place('FOOTER')}.text`)} maxLength={limits.footer} />
              <Buttons buttons={draft.buttons} change={(buttons) => set({ buttons })} wrong={(member) => act.wrong(`${place('BUTTONS')}.buttons${member}`)} />
            </>
          ) : (
            <Code draft={draft} set={set} wrong={(member) => act.wrong(`${place('BUTTONS')}.${member}`)} />
          )}
          <div className="row">
            <Button type="submit" tone="main" busy={act.isPending}>
              {t('templates.handIn')}
            </Button>
            <Button onClick={close}>{t('templates.back')}</Button>
          </div>
          <p className="small mute">{t('templates.handInHint')}</p>
        </form>
        <section className="stack tight template-beside" aria-labelledby="shown">
          <h2 id="shown">{t('templates.preview')}</h2>
          <TemplateBubble shown={draftShown(draft)} header={own ? draft.header : undefined} />
        </section>
      </div>
    </div>
  )
}

interface PartProps {
  draft: Draft
  set: (part: Partial<Draft>) => void
  wrong: (member: string) => string | undefined
}

function Head({ draft, set, wrong }: PartProps) {
  return (
    <>
      <Select label={t('templates.header')} value={draft.header} onChange={(e) => set({ header: e.target.value as Draft['header'] })} options={headers.map((value) => ({ value, label: t(`templates.header.${value}`) }))} />
      {draft.header === 'TEXT' && (
        <>
          <Input label={t('templates.headerText')} hint={t('templates.headerHint', { n: draft.headerText.length, most: limits.header })} dir="auto" value={draft.headerText} onChange={(e) => set({ headerText: e.target.value })} wrong={wrong('text')} maxLength={limits.header} required />
          <Examples part="header" names={variables(draft.headerText)} draft={draft} set={set} wrong={wrong('example')} />
        </>
      )}
      {(draft.header === 'IMAGE' || draft.header === 'VIDEO' || draft.header === 'DOCUMENT') && (
        <Input label={t('templates.handle')} hint={t('templates.handleHint')} value={draft.handle} onChange={(e) => set({ handle: e.target.value })} wrong={wrong('example.header_handle')} spellCheck={false} autoComplete="off" />
      )}
    </>
  )
}

function Body({ draft, set, wrong }: PartProps) {
  return (
    <>
      <TextArea label={t('templates.body')} hint={t('templates.bodyHint', { n: draft.body.length, most: limits.body })} dir="auto" rows={6} value={draft.body} onChange={(e) => set({ body: e.target.value })} wrong={wrong('text')} maxLength={limits.body} required />
      <div className="row">
        <Button icon="plus" onClick={() => set({ body: `${draft.body}${/\S$/.test(draft.body) ? ' ' : ''}${nextVariable(draft.body, draft.named)}` })}>
          {t('templates.addVariable')}
        </Button>
        <Check label={t('templates.named')} checked={draft.named} onChange={(e) => set({ named: e.target.checked })} />
      </div>
      <Examples part="body" names={variables(draft.body)} draft={draft} set={set} wrong={wrong('example')} />
    </>
  )
}

/** Examples are a value for each variable: the network refuses templates without. */
function Examples({ part, names, draft, set, wrong }: { part: 'header' | 'body'; names: string[]; draft: Draft; set: PartProps['set']; wrong: string | undefined }) {
  if (names.length === 0) return null
  return (
    <fieldset className="plain stack template-examples">
      <legend>{t('templates.examples')}</legend>
      {names.map((name, index) => {
        const key = `${part}.${name}`
        return (
          <Input
            key={key}
            label={`{{${name}}}`}
            dir="auto"
            value={draft.examples[key] ?? ''}
            onChange={(e) => set({ examples: { ...draft.examples, [key]: e.target.value } })}
            wrong={wrong && (!draft.examples[key]?.trim() || index === names.length - 1) ? wrong : undefined}
            required
          />
        )
      })}
    </fieldset>
  )
}

/** Code is what can be chosen of a template whose words are the network's. */
function Code({ draft, set, wrong }: PartProps) {
  return (
    <>
      <Notice>{t('templates.codeText')}</Notice>
      <Check label={t('templates.advice')} checked={draft.advice} onChange={(e) => set({ advice: e.target.checked })} />
      <Input label={t('templates.minutes')} hint={t('templates.minutesHint')} type="number" min={1} max={90} value={draft.minutes} onChange={(e) => set({ minutes: e.target.value })} />
      <Input label={t('templates.copyButton')} hint={t('templates.most', { n: draft.copy.length, most: limits.button })} dir="auto" value={draft.copy} onChange={(e) => set({ copy: e.target.value })} wrong={wrong('buttons[0].text')} maxLength={limits.button} />
    </>
  )
}
