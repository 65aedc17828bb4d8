"""The colour scales of cells, from the smallest to the largest value: (n, 3), uint8 red, green, blue. No Qt."""

from __future__ import annotations

import numpy as np

# Cividis: Nuñez, Anderton and Renslow, "Optimizing colormaps with consideration for color vision deficiency", 2018.
# Its 256 colours as matplotlib publishes them (CC0), in hexadecimal.
CIVIDIS = """
00204d00214e00225000225200235300245500255700255800265a00275c00275e002860002961002a63002a65002b67
002c69002c6a002d6c002e6e002e6f002f6f002f6f00306f00306f00316f00326f00336f00336f00346f00356e01366e
06366e0b376e0f386e12386d15396d183a6d1a3b6d1d3b6d1f3c6d213d6d233e6c243e6c263f6c28406c2a406c2b416c
2d426c2e436c30436c31446b32456b34456b35466b36476b38486b39486b3a496b3b4a6b3d4a6b3e4b6b3f4c6b404d6b
414d6b424e6b434f6b444f6b46506b47516b48526b49526b4a536b4b546c4c546c4d556c4e566c4f576c50576c51586c
52596c53596c545a6c555b6d565c6d575c6d585d6d595e6d595f6d5a5f6d5b606e5c616e5d616e5e626e5f636e60646f
61646f62656f63666f64666f646770656870666970676970686a71696b716a6c716b6c716c6d726c6e726d6e726e6f73
6f70737071737171747272747273747374757474757575757676767777767877777878777979777a7a787b7a787c7b78
7d7c787e7d787f7d78807e79817f798280798380798481798482798583798683798784798885798986798a87798b8779
8c88798d89798e8a798f8a79908b79918c78928d78938e78948e78958f789690789791789892789992789a93779b9477
9c95779d96779e96779f9777a09877a19976a29a76a39a76a49b76a59c76a69d75a89e75a99f75aa9f75aba074aca174
ada274aea374afa473b0a473b1a573b2a672b3a772b4a872b5a971b6a971b7aa71b8ab70b9ac70baad70bbae6fbcaf6f
beaf6fbfb06ec0b16ec1b26dc2b36dc3b46dc4b56cc5b56cc6b66bc7b76bc8b86ac9b96acbba69ccbb69cdbc68cebc68
cfbd67d0be67d1bf66d2c066d3c165d4c264d6c364d7c463d8c563d9c562dac661dbc761dcc860ddc95fdeca5fe0cb5e
e1cc5de2cd5ce3ce5ce4cf5be5d05ae6d159e8d259e9d358ead357ebd456ecd555edd654efd753f0d852f1d951f2da50
f3db4ff4dc4ef6dd4df7de4cf8df4bf9e04afae149fbe248fde346fee445ffe544ffe642ffe742ffe843ffe944ffea46
"""
_CIVIDIS_COLOURS = np.frombuffer(bytes.fromhex(CIVIDIS), np.uint8).reshape(256, 3)
_FIRST_ON_DARK = 40  # the first colour that is lighter than the dark theme's background by half
VALUES = {"light": _CIVIDIS_COLOURS, "dark": _CIVIDIS_COLOURS[_FIRST_ON_DARK:]}
# Towards the theme's text colour, so that more reads contrast more with the unread cells.
READS = {
    "light": np.array([(128, 182, 224), (60, 140, 198), (0, 88, 144), (0, 40, 74)], np.uint8),
    "dark": np.array([(38, 112, 168), (72, 158, 214), (144, 208, 245), (228, 245, 255)], np.uint8),
}
# Waste, conflicts and races, in the colour of the findings' icons.
HEAT = {
    "light": np.array([(240, 170, 128), (222, 126, 74), (178, 58, 0), (92, 22, 0)], np.uint8),
    "dark": np.array([(150, 74, 36), (204, 104, 52), (255, 146, 86), (255, 226, 204)], np.uint8),
}
