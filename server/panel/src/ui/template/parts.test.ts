import { expect, test } from 'vitest'
import { callOf, placesOf, shownOf } from './parts'

const order = {
  name: 'order_shipped',
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
    { type: 'BODY', text: 'Hello {{1}}, it comes on {{2}}.', example: { body_text: [['Ana', 'Monday']] } },
    { type: 'FOOTER', text: 'The shop' },
    { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Thanks' }, { type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}', example: ['o7'] }, { type: 'COPY_CODE', example: 'SAVE20' }] },
  ],
}

test('places are found with their examples', () => {
  expect(placesOf(order).map((place) => [place.key, place.kind, place.example])).toEqual([
    ['header.1', 'text', ''],
    ['body.1', 'text', 'Ana'],
    ['body.2', 'text', 'Monday'],
    ['button.1', 'text', 'o7'],
    ['button.2', 'code', 'SAVE20'],
  ])
})

test('a call is as the network takes it', () => {
  const values = { 'header.1': '7', 'body.1': 'Ana', 'body.2': 'Monday', 'button.1': 'o7', 'button.2': 'SAVE20' }
  expect(callOf(order, placesOf(order), values)).toEqual({
    name: 'order_shipped',
    language: { code: 'en_US' },
    components: [
      { type: 'header', parameters: [{ type: 'text', text: '7' }] },
      { type: 'body', parameters: [{ type: 'text', text: 'Ana' }, { type: 'text', text: 'Monday' }] },
      { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: 'o7' }] },
      { type: 'button', sub_type: 'copy_code', index: '2', parameters: [{ type: 'coupon_code', coupon_code: 'SAVE20' }] },
    ],
  })
  expect(shownOf(order, values)).toEqual({
    header: 'Order 7',
    text: 'Hello Ana, it comes on Monday.',
    footer: 'The shop',
    buttons: [{ type: 'QUICK_REPLY', text: 'Thanks' }, { type: 'URL', text: 'Track', url: 'https://shop.example/o7' }, { type: 'COPY_CODE', text: '' }],
  })
})

test('variables with names and files are filled by what they are', () => {
  const welcome = {
    name: 'welcome',
    language: 'pt_BR',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Olá {{first_name}}', example: { body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] } },
      null,
      7,
    ],
  }
  const places = placesOf(welcome)
  expect(places.map((place) => place.example)).toEqual(['', 'Ana'])
  expect(callOf(welcome, places, { header: 'https://shop.example/a.png', 'body.first_name': 'Ana' }).components).toEqual([
    { type: 'header', parameters: [{ type: 'image', image: { link: 'https://shop.example/a.png' } }] },
    { type: 'body', parameters: [{ type: 'text', parameter_name: 'first_name', text: 'Ana' }] },
  ])
})
