"""Operations on rows, and the engines that do them."""
